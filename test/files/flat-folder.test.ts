import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { flatFolderCid } from '../../src/files/content/flat-folder.ts'
import { type FolderFile, folderCid } from '../../src/files/content/folder-cid.ts'
import { hashBlock } from '../../src/files/content/hash-file.ts'

const mebibyte = 1024 * 1024

const size = fc.oneof(
  fc.nat(2 * mebibyte),
  fc.constantFrom(0, mebibyte, mebibyte + 1, 10 * mebibyte, 1_024 * mebibyte + 1),
)

const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
  .filter((text) => !text.includes('/'))

const files = fc.uniqueArray(fc.record({ name, size, seed: fc.nat() }), {
  maxLength: 16,
  selector: (file) => file.name,
})

test('a flat folder has the CID that the importer gives it', async () => {
  await fc.assert(
    fc.asyncProperty(files, async (some) => {
      const folder = await Promise.all(
        some.map(async (file): Promise<FolderFile> => {
          const { cid } = await hashBlock(Buffer.from(String(file.seed)))
          return { name: file.name, size: file.size, cid }
        }),
      )

      expect(await flatFolderCid(folder)).toBe(await folderCid(folder))
    }),
  )
})

test('more files than a few are refused', async () => {
  const { cid } = await hashBlock(Buffer.from('a'))
  const folder = Array.from({ length: 17 }, (_, at) => ({ name: `${at}`, cid, size: 1 }))

  await expect(flatFolderCid(folder)).rejects.toThrow(RangeError)
})
