import { hashBytes, leafHash, type MerklePath, rootOf, writeNodeHash } from './merkle.ts'
import { MerkleTree } from './merkle-tree.ts'

/** Leaves of a chunk: a power of two, so that chunks are nodes of the tree. The last one may have fewer. */
export const leavesOfChunk = 1_024

/** A tree (RFC 6962, section 2.1) that is built leaf by leaf, and keeps only one root of 1,024 leaves. */
export class ChunkedTree {
  readonly #chunk = new ChunkLeaves()
  readonly #roots: Buffer[] = []
  #count = 0

  get count(): number {
    return this.#count
  }

  /** Adds a leaf by its text. Returns whether it is the first one of a chunk. */
  add(text: string): boolean {
    if (this.#chunk.count === leavesOfChunk) this.#close()
    this.#chunk.add(text)
    this.#count++
    return this.#chunk.count === 1
  }

  /** The roots of all chunks, of which the last one is closed now. */
  chunkRoots(): readonly Buffer[] {
    if (this.#chunk.count > 0) this.#close()
    return this.#roots
  }

  #close(): void {
    this.#roots.push(this.#chunk.root())
    this.#chunk.clear()
  }
}

/** Hashes of up to 1,024 leaves, one behind the other: an object for each would be most of the work. */
export class ChunkLeaves {
  readonly #hashes = Buffer.alloc(leavesOfChunk * hashBytes)
  /** As many for the nodes above. */
  readonly #nodes = Buffer.alloc(leavesOfChunk * hashBytes)
  #count = 0

  get count(): number {
    return this.#count
  }

  /** @throws RangeError when there is no room */
  add(text: string): void {
    if (this.#count === leavesOfChunk) throw new RangeError('the chunk has all of its leaves')
    leafHash(text).copy(this.#hashes, this.#count++ * hashBytes)
  }

  clear(): void {
    this.#count = 0
  }

  /** Each hash by itself. */
  leaves(): Buffer[] {
    return Array.from({ length: this.#count }, (_, at) => Buffer.from(hashAt(this.#hashes, at)))
  }

  /** @throws RangeError when there are no leaves */
  root(): Buffer {
    if (this.#count === 0) throw new RangeError('a chunk has leaves')
    const nodes = this.#nodes
    this.#hashes.copy(nodes, 0, 0, this.#count * hashBytes)
    for (let length = this.#count; length > 1; length = (length + 1) >> 1) {
      for (let at = 0; at + 1 < length; at += 2) {
        writeNodeHash(nodes, at * hashBytes, (at >> 1) * hashBytes)
      }
      // The last one of an odd number goes up as it is.
      if (length % 2 === 1) hashAt(nodes, length - 1).copy(nodes, (length >> 1) * hashBytes)
    }
    return Buffer.from(hashAt(nodes, 0))
  }
}

function hashAt(hashes: Buffer, at: number): Buffer {
  return hashes.subarray(at * hashBytes, (at + 1) * hashBytes)
}
/** The root over all leaves, hex, given the roots of their chunks. */
export function rootOfChunks(roots: readonly Buffer[]): string {
  return rootOf(roots).toString('hex')
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
