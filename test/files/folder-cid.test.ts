import { BlackHoleBlockstore } from 'blockstore-core'
import * as fc from 'fast-check'
import { importer } from 'ipfs-unixfs-importer'
import * as encodedSizes from 'ipfs-unixfs-importer/utils'
import { describe, expect, test } from 'vitest'
import { cidProfile } from '../../src/files/content/content.ts'
import { dagSizeOf } from '../../src/files/content/dag-size.ts'
import { type FolderFile, folderCid } from '../../src/files/content/folder-cid.ts'
import { hashBytes } from '../../src/files/content/hash-file.ts'
import { kuboBytes } from '../support/kubo-bytes.ts'

const mebibyte = 1024 * 1024

/** What kubo makes names of (`AlphabetEasy`). */
const letters = 'abcdefghijklmnopqrstuvwxyz01234567890-_'

/** Parts of names: few, so that folders have more than one file, and some that UTF-8 and UTF-16 sort differently. */
const part = fc.constantFrom('a', 'b', 'B', 'a.b', 'é', 'e\u0301', '\uFFFD', '😀', ' ', '%2F', '0A')

describe('the CID of a folder', () => {
  test.each([
    [21, 'bafybeic3h7rwruealwxkacabdy45jivq2crwz6bufb5ljwupn36gicplx4'],
    [22, 'bafybeiegvuterwurhdtkikfhbxcldohmxp566vpjdofhzmnhv6o4freidu'],
  ])(
    'is that of kubo up to and beyond the size of a shard (last name of %i)',
    async (last, cid) => {
      expect(await folderCid(await kuboFolder(last))).toBe(cid)
    },
  )

  test('is what the importer gives for the bytes of the whole tree', async () => {
    const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
    const file = fc.record({ name, size: fc.nat(2 * mebibyte), seed: fc.constantFrom('a', 'b') })
    const cases = fc.asyncProperty(
      fc.array(file, { minLength: 1, maxLength: 12 }),
      async (made) => {
        const files = withoutClashes(made)

        expect(await folderCid(await Promise.all(files.map(hashed)))).toBe(await imported(files))
      },
    )
    await fc.assert(cases, { numRuns: 60 })
  })

  test('is what the importer gives where folders are shards, with folders in them', async () => {
    const counts = fc.record({ files: fc.integer({ min: 4_000, max: 6_000 }), folders: fc.nat(20) })
    const cases = fc.asyncProperty(counts, async ({ files, folders }) => {
      const names = Array.from({ length: files }, (_, at) => `all/the files/file ${at}`)
      const nested = Array.from({ length: folders }, (_, at) => `all/the files/in ${at}/file`)
      const made = [...names, ...nested].map((name) => ({ name, size: 3, seed: 'a' }))
      const { cid, size } = await hashBytes(kuboBytes(3, 'a'))
      const known = made.map(({ name }) => ({ name, cid, size }))

      expect(await folderCid(known)).toBe(await imported(made))
    })
    await fc.assert(cases, { numRuns: 6 })
  })

  test('does not depend on the order of the files', async () => {
    const files = await kuboFolder(22)

    expect(await folderCid(files.toReversed())).toBe(await folderCid(files))
  })

  test('counts the folders in a folder, whose links are as long as those of files', async () => {
    const { cid, size } = await hashBytes(kuboBytes(3, 'a'))
    const inOneEach = Array.from({ length: 6_000 }, (_, at) => ({ name: `${at}/file`, cid, size }))
    const one = await folderCid([{ name: 'file', cid, size }])

    expect(await folderCid(inOneEach)).toBe(await shardOf(6_000, one))
  })

  test.each([0, 1, mebibyte, mebibyte + 1, 1_024 * mebibyte, 1_024 * mebibyte + 1])(
    'links to a file of %i bytes with the size of all its blocks',
    async (size) => {
      expect(dagSizeOf(size)).toBe(await importedDagSize(size))
    },
  )
})

interface MadeFile {
  readonly name: string
  readonly size: number
  readonly seed: string
}

/** The folder of the vectors of kubo: 4,766 files whose names come of a seed, the last one of another length. */
async function kuboFolder(lastLength: number): Promise<FolderFile[]> {
  const [random = new Uint8Array()] = await Array.fromAsync(
    kuboBytes(mebibyte, 'hamt-unixfs-v1-2025'),
  )
  const { cid, size } = await hashBytes(textOf('x'))
  return Array.from({ length: 4_766 }, (_, at) => {
    const bytes = random.subarray(11 * at, 11 * at + (at === 4_765 ? lastLength : 11))
    const name = Array.from(bytes, (byte) => letters[byte % letters.length]).join('')
    return { name, cid, size }
  })
}

/** Without what has no place beside others: two files of one name, and one with the name of a folder. */
function withoutClashes(files: readonly MadeFile[]): MadeFile[] {
  const kept: MadeFile[] = []
  for (const file of files) {
    const clashes = kept.some(
      ({ name }) =>
        name === file.name || name.startsWith(`${file.name}/`) || file.name.startsWith(`${name}/`),
    )
    if (!clashes) kept.push(file)
  }
  return kept
}

async function hashed({ name, size, seed }: MadeFile): Promise<FolderFile> {
  const { cid } = await hashBytes(kuboBytes(size, seed))
  return { name, cid, size }
}

async function imported(files: readonly MadeFile[]): Promise<string> {
  const source = files.map(({ name, size, seed }) => ({
    path: name,
    content: kuboBytes(size, seed),
  }))
  const options = { profile: cidProfile, wrapWithDirectory: true } as const
  const made = await Array.fromAsync(importer(source, new BlackHoleBlockstore(), options))
  return String(made.at(-1)?.cid)
}

async function importedDagSize(size: number): Promise<number> {
  const source = [{ content: kuboBytes(size, 'a') }]
  const options = { profile: cidProfile } as const
  const [made] = await Array.fromAsync(importer(source, new BlackHoleBlockstore(), options))
  return Number(made?.size)
}

/** A shard of the importer with so many links to one folder, named 0, 1, 2, ... */
async function shardOf(count: number, folder: string): Promise<string> {
  const { CID } = await import('multiformats/cid')
  const oneFile = await Array.fromAsync(
    importer([{ path: 'file', content: kuboBytes(3, 'a') }], new BlackHoleBlockstore(), {
      profile: cidProfile,
      wrapWithDirectory: true,
    }),
  )
  const shard = new encodedSizes.DirSharded(
    { root: true, dir: true, path: '', dirty: true, flat: false },
    { cidVersion: 1, fieldOrder: 'links-first' },
  )
  for (let at = 0; at < count; at++) {
    await shard.put(String(at), {
      cid: CID.parse(folder),
      size: oneFile.at(-1)?.size ?? 0n,
      path: String(at),
    })
  }
  const flushed = await Array.fromAsync(shard.flush(new BlackHoleBlockstore()))
  return String(flushed.at(-1)?.cid)
}

async function* textOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
