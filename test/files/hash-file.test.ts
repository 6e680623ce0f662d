import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { blockBytes, hashBlock, hashBytes, hashFile } from '../../src/files/content/hash-file.ts'
import { kuboBytes } from '../support/kubo-bytes.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const mebibyte = 1024 * 1024

/** Vectors of kubo for the profile unixfs-v1-2025 (its `TestCIDProfiles`), and one for no bytes. */
const vectors = [
  {
    what: 'no bytes at all',
    bytes: () => chunked(Buffer.alloc(0), []),
    cid: 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku',
  },
  {
    what: 'hello world',
    bytes: () => chunked(Buffer.from('hello world'), []),
    cid: 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e',
  },
  {
    what: 'a block',
    bytes: () => kuboBytes(mebibyte, 'chunk-v1-seed'),
    cid: 'bafkreiacndfy443ter6qr2tmbbdhadvxxheowwf75s6zehscklu6ezxmta',
  },
  {
    what: 'a block and a byte',
    bytes: () => kuboBytes(mebibyte + 1, 'chunk-v1-seed'),
    cid: 'bafybeigmix7t42i6jacydtquhet7srwvgpizfg7gjbq7627d35mjomtu64',
  },
  {
    what: 'as many blocks as a node links to',
    bytes: () => kuboBytes(1_024 * mebibyte, 'v1-2025-seed'),
    cid: 'bafybeihmf37wcuvtx4hpu7he5zl5qaf2ineo2lqlfrapokkm5zzw7zyhvm',
  },
  {
    what: 'a byte more than a node links to',
    bytes: () => kuboBytes(1_024 * mebibyte + 1, 'v1-2025-seed'),
    cid: 'bafybeibdsi225ugbkmpbdohnxioyab6jsqrmkts3twhpvfnzp77xtzpyhe',
  },
]

describe('what bytes hash to', () => {
  // The first of all tests, because memory that others have had is still counted.
  test('is known of a file of 1 GiB with few of its bytes in memory', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('bytes')
    await writeFile(path, kuboBytes(1_024 * mebibyte, 'v1-2025-seed'))
    const before = peakBytes()

    await hashFile(path)

    expect(peakBytes() - before).toBeLessThan(100 * mebibyte)
  })

  test.each(vectors)('is the CID of kubo for $what', async ({ bytes, cid }) => {
    using folder = new TemporaryFolder()
    const path = folder.file('bytes')
    await writeFile(path, bytes())

    expect(await hashFile(path)).toMatchObject({ cid })
  })

  test('has size and SHA-256 of the same bytes', async () => {
    const bytes = Buffer.from('some bytes')

    expect(await hashBytes(chunked(bytes, [3]))).toMatchObject({
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    })
  })

  test('is the same however the bytes are cut, and whether they come from a file', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('bytes')
    const size = fc.oneof(
      fc.integer({ min: 0, max: 1_000 }),
      fc.integer({ min: mebibyte - 2, max: mebibyte + 2 }),
      fc.integer({ min: 5 * mebibyte, max: 6 * mebibyte }),
    )
    const cuts = fc.array(fc.integer({ min: 1, max: 2 * mebibyte }), { maxLength: 8 })
    const cases = fc.asyncProperty(
      size,
      fc.string(),
      cuts,
      cuts,
      async (bytes, seed, one, other) => {
        const whole = Buffer.concat(await Array.fromAsync(kuboBytes(bytes, seed)))
        await writeFile(path, whole)
        const hashed = await hashBytes(chunked(whole, one))

        expect(await hashBytes(chunked(whole, other))).toEqual(hashed)
        expect(await hashFile(path)).toEqual(hashed)
        if (bytes <= blockBytes) expect(await hashBlock(whole)).toEqual(hashed)
      },
    )
    await fc.assert(cases, { numRuns: 40 })
  })
})

/** Bytes in chunks of these lengths, the last of which goes on to the end. */
async function* chunked(bytes: Buffer, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0
  for (const length of [...lengths, Number.POSITIVE_INFINITY]) {
    yield bytes.subarray(at, at + length)
    at = Math.min(bytes.length, at + length)
  }
}

/** Most memory that this process has had so far. */
function peakBytes(): number {
  return process.resourceUsage().maxRSS * 1_024
}
