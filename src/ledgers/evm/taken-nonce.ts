import { LedgerUnreachable } from '../ledger.ts'
import { type EvmNode, resultOf } from './evm-node.ts'
import { hexOfNumber, listOf, membersOf, numberOf, textOf } from './quantities.ts'

/** A place in the order of the transactions of an account. */
export interface Place {
  readonly account: string
  readonly nonce: number
  /** A block by which a transaction has it. */
  readonly takenBy: number
}

/**
 * The hash of the transaction that has a place: what a node shows is there, also where others lag behind it. Undefined where nodes do
 * not keep what accounts were like by then.
 *
 * @throws LedgerUnreachable
 */
export async function holderOf(node: EvmNode, place: Place): Promise<string | undefined> {
  const height = await heightOf(node, place)
  if (height === undefined) return undefined
  const call = { method: 'eth_getBlockByNumber', params: [hexOfNumber(height), true] }
  const { answers } = await node.askFresh([call])
  const transactions = listOf(membersOf(resultOf(answers[0]))['transactions'])
  for (const one of transactions) {
    const { from, nonce, hash } = membersOf(one)
    const isOurs = textOf(from).toLowerCase() === place.account.toLowerCase()
    if (isOurs && numberOf(nonce) === place.nonce) return textOf(hash)
  }
  throw contradiction()
}

/** The block in which it was taken: looked for backwards in growing steps, and then in halves. */
async function heightOf(node: EvmNode, { account, nonce, takenBy }: Place) {
  let taken = takenBy
  let free = takenBy
  for (let step = 1; free === taken; step *= 2) {
    free = Math.max(-1, taken - step)
    const isTaken = free >= 0 && (await isTakenBy(node, { account, nonce, takenBy: free }))
    if (isTaken === undefined) return undefined
    if (isTaken) taken = free
  }
  while (taken - free > 1) {
    const middle = Math.floor((free + taken) / 2)
    const isTaken = await isTakenBy(node, { account, nonce, takenBy: middle })
    if (isTaken === undefined) return undefined
    if (isTaken) taken = middle
    else free = middle
  }
  return taken
}

/** Undefined where the node has the block, and does not know any more. @throws LedgerUnreachable where it does not have it */
async function isTakenBy(
  node: EvmNode,
  { account, nonce, takenBy }: Place,
): Promise<boolean | undefined> {
  const block = hexOfNumber(takenBy)
  const { answers } = await node.askFresh([
    { method: 'eth_getBlockByNumber', params: [block, false] },
    { method: 'eth_getTransactionCount', params: [account, block] },
  ])
  const [there, count] = answers
  if (resultOf(there) === null) throw contradiction()
  return count && 'error' in count ? undefined : numberOf(resultOf(count)) > nonce
}

/** One address may lead to several nodes, of which some lag behind. */
function contradiction(): LedgerUnreachable {
  return new LedgerUnreachable('the node does not have a block that it has reported before')
}
