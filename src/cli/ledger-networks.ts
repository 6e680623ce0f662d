import { resolve } from 'node:path'
import { readConfig } from '../config/config.ts'
import { filesIn } from '../config/data-folder.ts'
import { systemClock } from '../core/clock.ts'
import type { Ledger } from '../core/ledger.ts'
import type { LedgerSettings } from '../core/ledger-settings.ts'
import { formatUs } from '../core/time.ts'
import type { KeyRole } from '../ledgers/keys/ledger-key.ts'
import { LedgerUnreachable } from '../ledgers/ledger.ts'
import type { Signer } from '../ledgers/signer.ts'
import { type Command, CommandError, type Input, UsageError } from './command.ts'
import { ledgerIn, ledgerOperand } from './ledger-operand.ts'
import { onStopSignals } from './stop-signals.ts'

/** How long a node may take for one question. */
const answerMsMax = 5_000

const deploy: Command = {
  name: 'ledger deploy',
  summary: "Deploy the service's contract on a network of the EVM, and print its address.",
  description:
    'The key of the network owns the contract from then on, and pays for it. Each call makes a contract of its own.',
  operands: [ledgerOperand],
  options: [],
  async run(input) {
    return await onNetwork(input, async ({ settings, signerOf, signal }) => {
      const { ledger, network } = settings
      if (ledger === 'XRPL') throw new UsageError('XRPL has no contracts: none is needed there')
      const { deployContract } = await import('../ledgers/evm/deploy-contract.ts')
      const signer = await signerOf('issuer')
      const address = await deployContract({ ...settings, ledger, signer, signal })
      const notice = `Set STREAMVAULT_LEDGER_${ledger}_CONTRACT=${address}, and start the service again.`
      return { json: { ledger, network, address }, text: address, notice }
    })
  },
}

const check: Command = {
  name: 'ledger check',
  summary: 'Anchor a test record on a network, and follow it until it is final.',
  description: 'What it costs is paid by the key of the network. The service may run beside it.',
  operands: [ledgerOperand],
  options: [],
  async run(input) {
    return await onNetwork(input, async ({ settings, signerOf, signal }) => {
      const [{ openLedger }, { checkLedger }] = await Promise.all([
        import('../ledgers/opening/open-ledger.ts'),
        import('../ledgers/check-ledger.ts'),
      ])
      const ledger = await openLedger({
        settings,
        role: 'issuer',
        signerOf,
        clock: systemClock,
        batchWaitUs: 0,
      })
      try {
        const { transaction, inclusion, tookUs } = await checkLedger(ledger, tellStep, signal)
        const assets = await knowsAssets(settings)
        const time = formatUs(inclusion.timeUs)
        const json = {
          ledger: settings.ledger,
          network: settings.network,
          account: ledger.account,
          tx_hash: transaction.hash,
          terms: transaction.terms,
          height: inclusion.height,
          block_time: time,
          seconds: tookUs / 1_000_000,
          assets: assets ?? null,
        }
        const text = `COMPLETED: ${transaction.hash} is in block ${inclusion.height} of ${time}`
        return { json, text, ...(assets === false && { notice: noAssets(settings.ledger) }) }
      } finally {
        await ledger.close()
      }
    })
  },
}

/** Whether assets can be issued; undefined where that is not known. */
async function knowsAssets(settings: LedgerSettings): Promise<boolean | undefined> {
  const { rightNode } = await import('../ledgers/nodes/right-node.ts')
  try {
    const { node } = await rightNode(settings, { timeoutMs: answerMsMax })
    return (await node.figures({})).knowsAssets
  } catch (error) {
    if (error instanceof LedgerUnreachable) return undefined
    throw error
  }
}

function noAssets(ledger: Ledger): string {
  return `The contract is from before there were assets, and issues none: make a new one with streamvault ledger deploy ${ledger}, once nothing is under way.`
}

/** What is reached goes beside the result. */
function tellStep(step: string): void {
  process.stderr.write(`${step}\n`)
}

export const networkCommands: readonly Command[] = [deploy, check]

interface OnNetwork {
  readonly settings: LedgerSettings
  readonly signerOf: (role: KeyRole) => Promise<Signer>
  /** Aborted when the command is to end. */
  readonly signal: AbortSignal
}

/** Does something with the keys of a network that is configured. */
async function onNetwork<Result>(
  input: Input,
  work: (network: OnNetwork) => Promise<Result>,
): Promise<Result> {
  const ledger = ledgerIn(input)
  const config = readConfig(process.env)
  const settings = config.ledgers.find((one) => one.ledger === ledger)
  if (!settings) {
    const message = `STREAMVAULT_LEDGER_${ledger} names no node: this ledger is the sandbox`
    throw new CommandError('ledger_not_configured', message)
  }
  const { openOwnAccounts } = await import('../processes/offline/own-accounts.ts')
  const path = resolve(config.dataDir)
  await using accounts = openOwnAccounts({ path, ...filesIn(path) }, config.masterKey)
  const stopping = new AbortController()
  const stopListening = onStopSignals({ stop: () => stopping.abort() })
  try {
    return await work({
      settings,
      signerOf: (role) => accounts.signerOf(settings.network, role),
      signal: stopping.signal,
    })
  } catch (error) {
    if (error instanceof LedgerUnreachable) {
      throw new CommandError('ledger_not_reached', error.message)
    }
    throw error
  } finally {
    stopListening()
  }
}
