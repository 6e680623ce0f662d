import { createHash, hash } from 'node:crypto'

/** The way from a leaf to the root of its tree (RFC 6962, section 2.1.1). */
export interface MerklePath {
  /** From 0. */
  readonly index: number
  /** Leaves of the tree. */
  readonly size: number
  /** Hex, from the leaf upwards. */
  readonly hashes: readonly string[]
}

export const hashBytes = 32

/** Distinguish leaves from nodes, so that neither can be passed off as the other (RFC 6962, section 2.1). */
const leafPrefix = '\0'
const nodePrefix = 1

/** The hash of a leaf: of what is written, as UTF-8. */
export function leafHash(text: string): Buffer {
  return Buffer.from(sha256(leafPrefix + text), 'latin1')
}

/** The input of a node, filled again for each: a tree has as many nodes as leaves. */
const nodeInput = Buffer.alloc(1 + 2 * hashBytes, nodePrefix)

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  nodeInput.set(left, 1)
  nodeInput.set(right, 1 + hashBytes)
  return Buffer.from(sha256(nodeInput), 'latin1')
}

/** Writes the hash of the node over two hashes, which stand one behind the other, without an object for any of them. */
export function writeNodeHash(hashes: Buffer, pairAt: number, at: number): void {
  hashes.copy(nodeInput, 1, pairAt, pairAt + 2 * hashBytes)
  hashes.write(sha256(nodeInput), at, 'latin1')
}

/** As a text of bytes, because a buffer that `hash` makes itself takes three times as long. */
function sha256(input: string | Buffer): string {
  return hash('sha256', input, 'binary')
}

/** The root of a tree with these leaves, each given by its hash (RFC 6962, section 2.1). */
export function rootOf(leaves: readonly Uint8Array[]): Buffer {
  const [first] = leaves
  if (first === undefined) return createHash('sha256').digest()
  if (leaves.length === 1) return Buffer.from(first)
  const split = splitOf(leaves.length)
  return nodeHash(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)))
}

/** The largest power of two that is smaller. */
function splitOf(size: number): number {
  return 2 ** (31 - Math.clz32(size - 1))
}

/**
 * The way from one leaf to the root.
 *
 * @throws RangeError when there is no such leaf
 */
export function pathTo(index: number, leaves: readonly Uint8Array[]): MerklePath {
  if (!Number.isInteger(index) || index < 0 || index >= leaves.length) {
    throw new RangeError(`a tree of ${leaves.length} leaves has no leaf at ${index}`)
  }
  const hashes: string[] = []
  let [from, below] = [0, leaves.length]
  while (below - from > 1) {
    const middle = from + splitOf(below - from)
    const isLeft = index < middle
    const other = isLeft ? leaves.slice(middle, below) : leaves.slice(from, middle)
    hashes.unshift(rootOf(other).toString('hex'))
    if (isLeft) below = middle
    else from = middle
  }
  return { index, size: leaves.length, hashes }
}

const hexHash = /^[0-9a-f]{64}$/

/**
 * The root that a leaf has by its path; undefined when the path is none of a tree of its size
 * (RFC 9162, section 2.1.3.2).
 */
export function rootBy(leaf: Uint8Array, { index, size, hashes }: MerklePath): Buffer | undefined {
  if (!(Number.isSafeInteger(index) && Number.isSafeInteger(size))) return undefined
  if (index < 0 || index >= size || size > 2 ** 31) return undefined
  let [at, last] = [index, size - 1]
  let node: Buffer = Buffer.from(leaf)
  for (const text of hashes) {
    if (last === 0 || !hexHash.test(text)) return undefined
    const other = Buffer.from(text, 'hex')
    if (at % 2 === 1 || at === last) {
      node = nodeHash(other, node)
      while (at % 2 === 0 && at !== 0) [at, last] = [at >>> 1, last >>> 1]
    } else {
      node = nodeHash(node, other)
    }
    ;[at, last] = [at >>> 1, last >>> 1]
  }
  return last === 0 ? node : undefined
}
