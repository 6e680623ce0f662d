import { formatUs } from '../core/time.ts'
import { LedgerUnreachable } from '../ledgers/ledger.ts'
import { type Command, CommandError } from './command.ts'
import { dataDirOption, ledgerFolderOf } from './ledger-folder.ts'
import { keyOption, trustedKeys } from './trusted-keys.ts'

/** Walks the chain of a data folder. */
const verifyLedger: Command = {
  name: 'ledger verify',
  summary: 'Check every block of the sandbox ledger in a data folder.',
  description:
    'It reads the files alone, also beside a running service: links, times, roots, sequences, and the signatures of ' +
    'blocks and transactions. The exit code is 1 when a block is broken; the first one is named.',
  operands: [],
  options: [keyOption, dataDirOption],
  async run(input) {
    const trusted = trustedKeys(input)
    const folder = ledgerFolderOf(input)
    const { verifyChain } = await import('../ledgers/sandbox/chain-reader.ts')
    const report = await orNone(verifyChain(folder))
    const { keyId, blocks, transactions, timeUs, hash, unendedBytes, broken } = report
    const isOther = trusted.size > 0 && !trusted.has(keyId)
    const time = timeUs === undefined ? null : formatUs(timeUs)
    const json = {
      is_whole: broken === undefined && !isOther,
      key_id: keyId,
      blocks,
      transactions,
      time,
      hash,
      unended_bytes: unendedBytes,
      broken: broken ?? null,
    }
    if (broken) return { json, text: broken.reason, isFailure: true }
    if (isOther) {
      const text = `the ledger is signed with the key ${keyId}, which is not a key that you trust`
      return { json, text, isFailure: true }
    }
    const whose = trusted.size > 0 ? 'the key that you trust' : `key ${keyId}`
    const last = time === null ? '' : `; the last one is of ${time}, and its hash is ${hash}`
    const text = `the ledger is intact under ${whose}: ${blocks} blocks, ${transactions} transactions${last}`
    const notice = `${unendedBytes} bytes behind the last block are not a complete block: the service is writing one, or a crash has left them`
    return { json, text, ...(unendedBytes > 0 && { notice }) }
  },
}

const showLedgerKeys: Command = {
  name: 'ledger keys',
  summary:
    'Print the public keys of the sandbox ledger, as /.well-known/ledger-keys.json has them.',
  operands: [],
  options: [dataDirOption],
  async run(input) {
    const folder = ledgerFolderOf(input)
    const { ledgerKeys } = await import('../ledgers/sandbox/keys.ts')
    const json = await ledgerKeys(folder)
    if (json.keys.length === 0) throw noLedger(`there are no keys of a ledger in ${folder}`)
    return { json, text: JSON.stringify(json, null, 2) }
  },
}

export const ledgerCommands: readonly Command[] = [verifyLedger, showLedgerKeys]

async function orNone<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw error instanceof LedgerUnreachable ? noLedger(error.message) : error
  }
}

function noLedger(message: string): CommandError {
  return new CommandError('ledger_not_reached', message)
}
