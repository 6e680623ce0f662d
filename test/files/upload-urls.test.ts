import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { newId, type UserId } from '../../src/core/ids.ts'
import { SignedPaths } from '../../src/files/signing/signed-paths.ts'
import type { UploadId } from '../../src/files/store/upload-id.ts'
import { UploadUrls } from '../../src/files/uploads/upload-urls.ts'

const subject = { purpose: 'user-image', resourceId: newId<UserId>(), turn: 1 } as const
const writer = { scope: 'vaults:write' } as const

function urlsOf(uploadUrl: (upload: UploadId) => Promise<string>) {
  const failures: unknown[] = []
  const urls = new UploadUrls({
    store: { uploadUrl },
    signed: new SignedPaths({
      digests: { digest: (text) => text },
      clock: systemClock,
      publicUrl: 'http://vault.example',
    }),
    clock: systemClock,
    onFailure: (error) => failures.push(error),
  })
  return { urls, failures }
}

test('a store that cannot sign is told of once in a while, and addresses are empty meanwhile', async () => {
  let asked = 0
  const { urls, failures } = urlsOf(async () => {
    asked++
    throw new Error('no credentials')
  })

  const found = [await urls.urlFor(writer, subject, 1), await urls.urlFor(writer, subject, 1)]

  expect([found, asked, failures.length]).toEqual([['', ''], 1, 1])
})

test('an address of a store is kept', async () => {
  let asked = 0
  const { urls } = urlsOf(async (upload) => `https://bucket.example/${upload}?${asked++}`)

  const found = [await urls.urlFor(writer, subject, 1), await urls.urlFor(writer, subject, 1)]

  expect(found[0]).toMatch(/^https:\/\/bucket\.example\//)
  expect(found[1]).toBe(found[0])
  expect(asked).toBe(1)
})

test('a caller who may not change what it is for has none', async () => {
  const { urls } = urlsOf(async () => 'https://bucket.example/')

  expect(await urls.urlFor({ scope: 'vaults:read attachments:write' }, subject, 1)).toBe('')
})
