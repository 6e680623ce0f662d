import { createHash } from 'node:crypto'
import { type MerklePath, nodeHash } from './merkle.ts'
import { MerkleTree } from './merkle-tree.ts'

/** Leaves of a chunk: a power of two, so that chunks are nodes of the tree, and the last one may have fewer. */
export const leavesOfChunk = 1_024

/**
 * A tree (RFC 6962, section 2.1) that is built leaf by leaf, and keeps of 1,024 leaves only their root.
 */
export class ChunkedTree {
  #leaves: Buffer[] = []
  readonly #roots: Buffer[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Returns whether the leaf is the first one of a chunk. */
  add(leaf: Buffer): boolean {
    if (this.#leaves.length === leavesOfChunk) this.#close()
    this.#leaves.push(leaf)
    this.#count++
    return this.#leaves.length === 1
  }

  /** The roots of all chunks; nothing may be added afterwards. */
  chunkRoots(): readonly Buffer[] {
    this.#close()
    return this.#roots
  }

  #close(): void {
    if (this.#leaves.length === 0) return
    this.#roots.push(chunkRoot(this.#leaves))
    this.#leaves = []
  }
}

/** The root of some leaves, of which there is one at least. */
export function chunkRoot(leaves: readonly Buffer[]): Buffer {
  const nodes = [...leaves]
  for (let length = nodes.length; length > 1; length = (length + 1) >> 1) {
    for (let at = 0; at < length; at += 2) {
      const left = nodes[at] as Buffer
      nodes[at >> 1] = at + 1 < length ? nodeHash(left, nodes[at + 1] as Buffer) : left
    }
  }
  return nodes[0] ?? createHash('sha256').digest()
}

/** The root over all leaves, hex, given the roots of their chunks. */
export function rootOfChunks(roots: readonly Buffer[]): string {
  return chunkRoot(roots).toString('hex')
}

/** A leaf of a chunk, among all leaves. */
export interface ChunkPlace {
  /** Hashes of the leaves of the chunk. */
  readonly leaves: readonly Buffer[]
  /** Which of them it is. */
  readonly index: number
  /** Which chunk it is in. */
  readonly chunk: number
  /** Roots of all chunks. */
  readonly roots: readonly Buffer[]
  /** Leaves of all chunks. */
  readonly count: number
}

/**
 * The way from a leaf to the root over all chunks.
 *
 * @throws RangeError when there is no such leaf
 */
export function pathInChunks({ leaves, index, chunk, roots, count }: ChunkPlace): MerklePath {
  const within = new MerkleTree(leaves).path(index)
  const above = new MerkleTree(roots).path(chunk)
  return {
    index: chunk * leavesOfChunk + index,
    size: count,
    hashes: [...within.hashes, ...above.hashes],
  }
}
