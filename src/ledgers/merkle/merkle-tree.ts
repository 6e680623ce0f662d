import { createHash } from 'node:crypto'
import { leafHash, type MerklePath, nodeHash } from './merkle.ts'

/**
 * A whole tree (RFC 6962, section 2.1) from which many paths are taken: each is a look into it, and not another
 * calculation.
 *
 * Level by level two neighbours are one node, and the last of an odd number goes up as it is. That is the tree of the
 * definition, which splits at the largest power of two: all but the last subtree of a level are full.
 */
export class MerkleTree {
  readonly #levels: readonly (readonly Buffer[])[]

  constructor(leaves: readonly Buffer[]) {
    const levels = [leaves]
    for (let level = leaves; level.length > 1; levels.push(level)) level = above(level)
    this.#levels = levels
  }

  /** The tree whose leaves are these texts. */
  static over(texts: readonly string[]): MerkleTree {
    return new MerkleTree(texts.map(leafHash))
  }

  /** Hex. */
  get root(): string {
    const root = this.#levels.at(-1)?.[0] ?? createHash('sha256').digest()
    return root.toString('hex')
  }

  /** @throws RangeError when there is no such leaf */
  path(index: number): MerklePath {
    const [leaves = []] = this.#levels
    if (!Number.isInteger(index) || index < 0 || index >= leaves.length) {
      throw new RangeError(`a tree of ${leaves.length} leaves has no leaf at ${index}`)
    }
    const hashes: string[] = []
    let at = index
    for (const level of this.#levels.slice(0, -1)) {
      const neighbour = level[at ^ 1]
      if (neighbour) hashes.push(neighbour.toString('hex'))
      at >>>= 1
    }
    return { index, size: leaves.length, hashes }
  }
}

function above(level: readonly Buffer[]): readonly Buffer[] {
  const nodes: Buffer[] = []
  for (let at = 0; at < level.length; at += 2) {
    const left = level[at] as Buffer
    const right = level[at + 1]
    nodes.push(right ? nodeHash(left, right) : left)
  }
  return nodes
}
