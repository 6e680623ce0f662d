import { encodeDeployData } from 'viem/utils'
import { LedgerUnreachable } from '../ledger.ts'
import { BlockWatch } from '../nodes/block-watch.ts'
import type { Signer } from '../signer.ts'
import { EvmNode, type EvmNodeNeeds, resultOf } from './evm-node.ts'
import { addressOf, signedTransaction } from './evm-transaction.ts'
import { bidFor, type EvmLedgerName, feeRules, marketCalls, marketOfAnswers } from './fees.ts'
import { bigOf, type Hex, membersOf, numberOf, textOf } from './quantities.ts'

export interface DeployNeeds extends EvmNodeNeeds {
  readonly ledger: EvmLedgerName
  /** Wei per gas in all, as decimal text; undefined for what is usual. */
  readonly feeMax: string | undefined
  /** Owns the contract from then on. */
  readonly signer: Signer
  readonly signal?: AbortSignal
}

/**
 * Puts the contract on a network, and resolves with its address once it is in a block. To be done while nobody else
 * signs for the account.
 *
 * @throws LedgerUnreachable
 */
export async function deployContract(needs: DeployNeeds): Promise<string> {
  const node = new EvmNode(needs)
  try {
    const hash = await sendContract(node, needs)
    return await addressOnceThere(node, hash, needs.signal)
  } finally {
    node.close()
  }
}

async function sendContract(node: EvmNode, needs: DeployNeeds): Promise<string> {
  const { ledger, network, signer } = needs
  const account = addressOf(signer)
  const data = await deployData(ledger, account)
  const { answers } = await node.askFresh([
    { method: 'eth_getTransactionCount', params: [account, 'pending'] },
    { method: 'eth_estimateGas', params: [{ from: account, data }] },
    { method: 'eth_getBalance', params: [account, 'latest'] },
    ...marketCalls,
  ])
  const [count, estimate, balance, ...market] = answers
  const feeAllowed = needs.feeMax === undefined ? feeRules[ledger].feeMax : BigInt(needs.feeMax)
  const bid = bidFor(marketOfAnswers(market, ledger), feeAllowed)
  if (!bid) throw new LedgerUnreachable(`it costs more than ${feeAllowed} wei per gas now`)
  const gas = (bigOf(resultOf(estimate, 'the network does not take the contract')) * 11n) / 10n
  if (bigOf(resultOf(balance)) < gas * bid.maxFee) {
    throw new LedgerUnreachable(`${account} needs ${gas * bid.maxFee} wei for it`)
  }
  const chainId = Number(network.replace('eip155:', ''))
  const sequence = numberOf(resultOf(count)) + 1
  const unsigned = { chainId, sequence, to: undefined, data, terms: { gas, ...bid } }
  const { blob, hash } = await signedTransaction(unsigned, signer)
  const sent = await node.ask([{ method: 'eth_sendRawTransaction', params: [blob] }])
  resultOf(sent.answers[0])
  return hash
}

async function addressOnceThere(
  node: EvmNode,
  hash: string,
  signal: AbortSignal = new AbortController().signal,
): Promise<string> {
  const watch = new BlockWatch(node)
  while (!signal.aborted) {
    await watch.next(signal)
    const { answers } = await node.ask([{ method: 'eth_getTransactionReceipt', params: [hash] }])
    const receipt = resultOf(answers[0])
    if (receipt === null) continue
    const { status, contractAddress } = membersOf(receipt)
    if (numberOf(status) === 1) return textOf(contractAddress)
    throw new LedgerUnreachable('the network has reverted the contract')
  }
  throw new LedgerUnreachable(`it is in no block yet: ${hash}`)
}

/** A network that ends at the rules of London takes other code. */
async function deployData(ledger: EvmLedgerName, owner: string): Promise<Hex> {
  const { default: artifact } =
    ledger === 'POLYGON_ZKEVM'
      ? await import('./contract/london.json', { with: { type: 'json' } })
      : await import('./contract/cancun.json', { with: { type: 'json' } })
  const { abi, bytecode } = artifact
  return encodeDeployData({ abi, bytecode: bytecode as Hex, args: [owner] })
}
