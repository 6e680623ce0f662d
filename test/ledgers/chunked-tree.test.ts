import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ChunkedTree,
  ChunkLeaves,
  leavesOfChunk,
  pathInChunks,
  rootOfChunks,
} from '../../src/ledgers/merkle/chunked-tree.ts'
import { leafHash, rootBy } from '../../src/ledgers/merkle/merkle.ts'
import { MerkleTree } from '../../src/ledgers/merkle/merkle-tree.ts'

const edges = [0, 1, 2, 3, 1_023, 1_024, 1_025, 2_047, 2_048, 2_049, 3_072, 4_097]

function textsOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `leaf ${at} é`)
}

function chunkedTree(texts: readonly string[]) {
  const tree = new ChunkedTree()
  const starts = texts.flatMap((text, at) => (tree.add(text) ? [at] : []))
  return { tree, starts, roots: tree.chunkRoots() }
}

describe('a tree in chunks', () => {
  test('has the root of a tree over all leaves, and a root of each 1,024', () => {
    const count = fc.oneof(fc.constantFrom(...edges), fc.nat(5_000))
    fc.assert(
      fc.property(count, (size) => {
        const texts = textsOf(size)
        const { tree, starts, roots } = chunkedTree(texts)

        expect(tree.count).toBe(size)
        expect(rootOfChunks(roots)).toBe(MerkleTree.over(texts).root)
        expect(starts).toEqual(roots.map((_, chunk) => chunk * leavesOfChunk))
        for (const [chunk, start] of starts.entries()) {
          const part = texts.slice(start, start + leavesOfChunk)
          expect(roots[chunk]?.toString('hex')).toBe(MerkleTree.over(part).root)
        }
      }),
      { numRuns: 60, examples: edges.map((size) => [size]) },
    )
  })

  test('has the paths of a tree over all leaves', () => {
    const place = fc.oneof(fc.constantFrom(...edges), fc.nat(5_000))
    fc.assert(
      fc.property(place, place, (one, other) => {
        const texts = textsOf(Math.max(one, other) + 1)
        const at = Math.min(one, other)
        const { tree, roots } = chunkedTree(texts)
        const chunk = Math.floor(at / leavesOfChunk)
        const leaves = texts.slice(chunk * leavesOfChunk, (chunk + 1) * leavesOfChunk).map(leafHash)

        const index = at % leavesOfChunk
        const path = pathInChunks({ leaves, index, chunk, roots, count: tree.count })

        expect(path).toEqual(MerkleTree.over(texts).path(at))
        const root = rootBy(leafHash(texts[at] ?? ''), path)
        expect(root?.toString('hex')).toBe(rootOfChunks(roots))
      }),
      { numRuns: 60 },
    )
  })

  test('has no path of a leaf that is not in the chunk', () => {
    const { tree, roots } = chunkedTree(textsOf(3))
    const leaves = textsOf(3).map(leafHash)
    const place = { leaves, chunk: 0, roots, count: tree.count }
    expect(() => pathInChunks({ ...place, index: 3 })).toThrow(RangeError)
    expect(() => pathInChunks({ ...place, index: 0, chunk: 1 })).toThrow(RangeError)
  })
})

describe('the leaves of a chunk', () => {
  test('are no more than 1,024, and begin again when they are cleared', () => {
    const chunk = new ChunkLeaves()
    expect(() => chunk.root()).toThrow(RangeError)
    for (const text of textsOf(leavesOfChunk)) chunk.add(text)
    expect(() => chunk.add('one more')).toThrow(RangeError)
    chunk.clear()
    chunk.add('a')
    chunk.add('b')

    expect(chunk.leaves()).toEqual([leafHash('a'), leafHash('b')])
    expect(chunk.root().toString('hex')).toBe(MerkleTree.over(['a', 'b']).root)
    expect(chunk.leaves()).toEqual([leafHash('a'), leafHash('b')])
  })
})
