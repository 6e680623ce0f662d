import { formatUs, parseRfc3339 } from '../../core/time.ts'
import { isCount, isHash, membersOf } from './transaction-text.ts'

const headerCharsMax = 1_024

/** What the first block says instead of the one before it. */
export const noBlock = '0'.repeat(64)

/** What a block of the sandbox says of itself: that is what is signed. Its SHA-256 names the block. */
export interface BlockHeader {
  /** The key of the first block. */
  readonly chain: string
  /** From 1. */
  readonly height: number
  /** SHA-256 of the header before, hex. */
  readonly previous: string
  /** Microseconds. */
  readonly timeUs: number
  /** How many transactions. */
  readonly transactions: number
  /** Hex, of the tree over the hashes of its transactions. */
  readonly root: string
}

/** One line of JSON, with its members in this order. */
export function headerOf(said: BlockHeader): string {
  const { chain, height, previous, timeUs, transactions, root } = said
  return JSON.stringify({ chain, height, previous, time: formatUs(timeUs), transactions, root })
}

/** Undefined where it is not what `headerOf` would have written. */
export function parseHeader(text: string): BlockHeader | undefined {
  if (text.length > headerCharsMax) return undefined
  const said = membersOf(text)
  if (!said) return undefined
  const { chain, height, previous, time, transactions, root } = said
  if (typeof chain !== 'string' || chain === '' || typeof time !== 'string') return undefined
  if (!isCount(height) || !isCount(transactions) || !isHash(previous) || !isHash(root)) {
    return undefined
  }
  const timeUs = parseRfc3339(time)
  if (typeof timeUs !== 'number') return undefined
  const header = { chain, height, previous, timeUs, transactions, root }
  return headerOf(header) === text ? header : undefined
}
