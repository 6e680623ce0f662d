import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { leafHash, nodeHash, pathTo, rootBy, rootOf } from '../../src/ledgers/merkle/merkle.ts'
import { MerkleTree } from '../../src/ledgers/merkle/merkle-tree.ts'

function sha256(...pieces: readonly Uint8Array[]): Buffer {
  return createHash('sha256').update(Buffer.concat(pieces)).digest()
}

/** MTH of RFC 6962, section 2.1, as it is written there. */
function definedRoot(leaves: readonly Uint8Array[]): Buffer {
  if (leaves.length === 0) return sha256()
  if (leaves.length === 1) return sha256(Buffer.of(0), leaves[0] as Uint8Array)
  let k = 1
  while (2 * k < leaves.length) k *= 2
  return sha256(Buffer.of(1), definedRoot(leaves.slice(0, k)), definedRoot(leaves.slice(k)))
}

/** PATH of RFC 6962, section 2.1.1, as it is written there. */
function definedPath(m: number, leaves: readonly Uint8Array[]): readonly Buffer[] {
  if (leaves.length === 1) return []
  let k = 1
  while (2 * k < leaves.length) k *= 2
  return m < k
    ? [...definedPath(m, leaves.slice(0, k)), definedRoot(leaves.slice(k))]
    : [...definedPath(m - k, leaves.slice(k)), definedRoot(leaves.slice(0, k))]
}

/** The data that the tests of Certificate Transparency use, and the root over the first so many. */
const inputs = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((hex) => Buffer.from(hex, 'hex'))
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

function hashOf(data: Uint8Array): Buffer {
  return sha256(Buffer.of(0), data)
}

function textsOf(count: number, word = 'leaf'): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${word} ${at}`)
}

describe('the root of a tree', () => {
  test.each(roots.map((root, size) => [size, root] as const))(
    'over %i leaves is the one that is published',
    (size, root) => {
      const leaves = inputs.slice(0, size).map(hashOf)
      expect(rootOf(leaves).toString('hex')).toBe(root)
      expect(new MerkleTree(leaves).root).toBe(root)
    },
  )

  test('is that of the definition, for 1 to 1,025 leaves', () => {
    for (let size = 1; size <= 1_025; size++) {
      const texts = textsOf(size)
      const expected = definedRoot(texts.map((text) => Buffer.from(text))).toString('hex')
      expect(MerkleTree.over(texts).root).toBe(expected)
      if (size < 70 || size > 1_020)
        expect(rootOf(texts.map(leafHash)).toString('hex')).toBe(expected)
    }
  })

  test('is another one for another list', () => {
    const list = fc.array(fc.constantFrom('a', 'b', 'ab', ''), { maxLength: 9 })
    fc.assert(
      fc.property(list, list, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other))
        expect(MerkleTree.over(one).root).not.toBe(MerkleTree.over(other).root)
      }),
      { numRuns: 2_000 },
    )
  })

  test('is another one when the last leaf is there twice', () => {
    for (let size = 1; size <= 65; size++) {
      const texts = textsOf(size)
      expect(MerkleTree.over([...texts, texts.at(-1) ?? '']).root).not.toBe(
        MerkleTree.over(texts).root,
      )
    }
  })

  test('is no leaf of a tree with that root', () => {
    const [left = Buffer.alloc(0), right = Buffer.alloc(0)] = textsOf(2).map(leafHash)
    const node = nodeHash(left, right)
    expect(sha256(Buffer.of(0), left, right)).not.toEqual(node)
  })
})

describe('the path of a leaf', () => {
  test('is that of the definition, and leads to the root', () => {
    for (const size of [1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 100, 1_000, 1_024, 1_025]) {
      const texts = textsOf(size)
      const data = texts.map((text) => Buffer.from(text))
      const tree = MerkleTree.over(texts)
      const places = size < 40 ? [...texts.keys()] : [0, 1, size >> 1, size - 2, size - 1]
      for (const index of places) {
        const path = tree.path(index)
        const expected = definedPath(index, data).map((hash) => hash.toString('hex'))
        expect(path).toEqual({ index, size, hashes: expected })
        if (size < 40) expect(pathTo(index, texts.map(leafHash))).toEqual(path)
        expect(rootBy(leafHash(texts[index] ?? ''), path)?.toString('hex')).toBe(tree.root)
      }
    }
  })

  test('leads to no root with a bit, a hash or a place that is another one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 40 }), fc.nat(), fc.nat(), (size, seed, change) => {
        const texts = textsOf(size)
        const tree = MerkleTree.over(texts)
        const index = seed % size
        const { hashes } = tree.path(index)
        const leaf = leafHash(texts[index] ?? '')
        const at = change % hashes.length
        const flipped = Buffer.from(hashes[at] ?? '', 'hex')
        flipped[change % 32] = (flipped[change % 32] ?? 0) ^ (1 << (change % 8))
        const wrong = [
          { index: (index + 1 + (change % (size - 1))) % size, size, hashes },
          { index, size, hashes: hashes.with(at, flipped.toString('hex')) },
          { index, size, hashes: hashes.toSpliced(at, 1) },
          { index, size, hashes: [...hashes, hashes[0] ?? ''] },
        ]
        for (const path of wrong) {
          expect(rootBy(leaf, path)?.toString('hex')).not.toBe(tree.root)
        }
      }),
    )
  })

  test('is none where there is no such leaf', () => {
    expect(() => MerkleTree.over(textsOf(3)).path(3)).toThrow(RangeError)
    expect(() => MerkleTree.over([]).path(0)).toThrow(RangeError)
    expect(() => MerkleTree.over(textsOf(3)).path(-1)).toThrow(RangeError)
    expect(() => pathTo(0.5, textsOf(3).map(leafHash))).toThrow(RangeError)
    expect(rootBy(leafHash('leaf 0'), { index: 2, size: 2, hashes: [] })).toBeUndefined()
  })
})
