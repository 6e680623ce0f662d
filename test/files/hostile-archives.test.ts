import { writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { takeUpload } from '../../src/files/content/take-upload.ts'
import { hostileArchives } from '../support/hostile-archives.ts'
import { KeptContents } from '../support/kept-contents.ts'

const mebibyte = 1024 * 1024
const limits = { bytesMax: 512 * mebibyte, unpackedBytesMax: 64 * mebibyte }

describe('an archive is refused with', () => {
  test.each(hostileArchives)('$what', async ({ bytes, reason }) => {
    using kept = new KeptContents()
    const path = kept.file('upload')
    await writeFile(path, bytes())

    const refused = await refusalOf(takeUpload({ path, form: { is: 'archive' }, limits }, kept))

    expect(refused).toMatch(reason)
    expect(refused).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(refused.length).toBeLessThanOrEqual(300)
    expect(kept.leftInScratch()).toEqual([])
    expect(kept.cids()).toEqual([])
  })
})

/** What is said about an upload that is not taken. */
async function refusalOf(taking: Promise<unknown>): Promise<string> {
  const error: unknown = await taking.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof DomainError)) throw error ?? new Error('it was taken')
  expect(error.code).toBe('file_rejected')
  return error.message
}
