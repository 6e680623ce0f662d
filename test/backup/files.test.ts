import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { type BackupAnswer, backUp, beginBackup, endOfBackup } from '../support/backups.ts'
import { streamvault, streamvaultJson } from '../support/command-line.ts'
import { FaultyService } from '../support/faulty-service.ts'
import { contentIn, downloaded, storedAttachment } from '../support/kept-files.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import type { ShownAttachment } from '../support/uploads.ts'
import { zipArchive } from '../support/zip-archive.ts'

const services = startedServices()
const random = new SeededRandom(14)

function anyBytes(length: number): Buffer<ArrayBuffer> {
  return Buffer.from(Uint8Array.from({ length }, () => random.integer(0, 255)))
}

function cidOf({ files: [file] }: ShownAttachment): string {
  return file?.cid ?? ''
}

test('files that were uploaded before a backup have the same bytes after a restore elsewhere', async () => {
  using folder = new TemporaryFolder()
  const original = await services.start(services.newFolder())
  const api = new ApiClient(original.http)
  const large = anyBytes(3 * 1024 * 1024 + 1)
  const report = await storedAttachment(api, large)
  const entries = [
    { name: 'empty.txt', content: '' },
    { name: 'in/deep.bin', content: anyBytes(300_000) },
    { name: 'note.txt', content: 'a note' },
  ]
  const packed = new Uint8Array(zipArchive(entries))
  const archive = await storedAttachment(api, packed, { upload_as_zip: true })
  const again = await storedAttachment(api, large)
  const { to } = await backUp(api, folder.file('backup'))
  await original.end('SIGTERM')

  await streamvaultJson(['backup', 'verify', '--from', to])
  const dataDir = folder.file('restored')
  const words = ['restore', '--from', to, '--data-dir', dataDir, '--verify']
  expect(await streamvaultJson(words)).toMatchObject({
    verified: true,
    lostFiles: [],
    manifest: { counts: { files: 4, fileBytes: large.length + 300_006, filesLost: 0 } },
  })
  const restored = new ApiClient((await services.start(dataDir)).http)
  for (const { id } of [report, again]) {
    const bytes = await downloaded(restored, `/attachments/${id}/content`)
    expect(bytes.equals(large)).toBe(true)
  }
  for (const [at, { content }] of entries.entries()) {
    const bytes = await downloaded(restored, `/attachments/${archive.id}/files/${at}`)
    expect(bytes.equals(Buffer.from(content))).toBe(true)
  }
})

test('what was lost before a backup is named, and is not restored as anything else', async () => {
  using folder = new TemporaryFolder()
  const original = await services.start(services.newFolder())
  const api = new ApiClient(original.http)
  const [whole, changed, shorter, gone] = [
    await storedAttachment(api, 'whole'),
    await storedAttachment(api, 'changed'),
    await storedAttachment(api, 'shorter'),
    await storedAttachment(api, 'gone'),
  ].map(cidOf) as [string, string, string, string]
  writeFileSync(contentIn(original.dataDir, changed), 'CHANGED')
  writeFileSync(contentIn(original.dataDir, shorter), 'short')
  rmSync(contentIn(original.dataDir, gone))
  const { to, lostFiles } = await backUp(api, folder.file('backup'))
  expect(lostFiles).toBe(2)

  const reasons = [
    `content ${changed} was damaged`,
    `content ${shorter} had 5 bytes instead of 7`,
    `content ${gone} was missing`,
  ]
  const verified = await streamvault(['backup', 'verify', '--from', to])
  expect(verified.code).toBe(1)
  for (const reason of reasons) expect(verified.stdout).toContain(reason)

  const words = ['restore', '--from', to, '--data-dir']
  const restored = await streamvault([...words, folder.file('restored')])
  expect(restored.code).toBe(0)
  for (const reason of reasons) expect(restored.stderr).toContain(reason)
  const there = [whole, changed, shorter, gone].map((cid) =>
    existsSync(contentIn(folder.file('restored'), cid)),
  )
  expect(there).toEqual([true, false, false, false])

  const compared = await streamvault([...words, folder.file('compared'), '--verify'])
  expect(compared.code).toBe(1)
  expect(compared.stderr).toContain('differs from the backup in 3 places')
  for (const reason of reasons) expect(compared.stderr).toContain(reason)
})

test('what is deleted while a backup copies files is in it, and goes when it is done', async () => {
  using folder = new TemporaryFolder()
  await using service = await FaultyService.start()
  const { api, faults, dataDir } = service
  const before = await storedAttachment(api, 'deleted meanwhile')
  const content = contentIn(dataDir, cidOf(before))

  faults.begin('hold', 'backup/files.zst')
  const to = folder.file('backup')
  const { backupId } = await beginBackup(api, to)
  await expect.poll(() => existsSync(`${to}/files.zst`)).toBe(true)
  await api.withKey('DELETE', `/attachments/${before.id}`)
  const later = await storedAttachment(api, 'uploaded meanwhile')
  // Removals are told of this one as well: by now the first would be gone.
  await api.withKey('DELETE', `/attachments/${later.id}`)
  expect(existsSync(content)).toBe(true)
  faults.end()
  expect(await endOfBackup(api, backupId)).toMatchObject({ status: 'completed', lostFiles: 0 })

  await expect.poll(() => existsSync(content)).toBe(false)
  await expect.poll(() => existsSync(contentIn(dataDir, cidOf(later)))).toBe(false)
  const words = ['restore', '--from', to, '--data-dir', folder.file('restored'), '--verify']
  await streamvaultJson(words)
  const restored = new ApiClient((await services.start(folder.file('restored'))).http)
  const bytes = await downloaded(restored, `/attachments/${before.id}/content`)
  expect(bytes.toString()).toBe('deleted meanwhile')
})

test('a backup that is cancelled while it copies files leaves nothing, and removals go on', async () => {
  using folder = new TemporaryFolder()
  await using service = await FaultyService.start()
  const { api, faults, dataDir } = service
  const attachment = await storedAttachment(api, 'soon gone')

  faults.begin('hold', 'backup/files.zst')
  const to = folder.file('backup')
  const { backupId } = await beginBackup(api, to)
  await expect.poll(() => existsSync(`${to}/files.zst`)).toBe(true)
  await api.withKey('DELETE', `/attachments/${attachment.id}`)
  const cancelling = api.withToken<BackupAnswer>('POST', `/backups/${backupId}/cancel`)
  faults.end()
  await cancelling

  expect(readdirSync(folder.path)).toEqual([])
  await expect.poll(() => existsSync(contentIn(dataDir, cidOf(attachment)))).toBe(false)
})

test('one changed byte of the files of a backup is found', async () => {
  using folder = new TemporaryFolder()
  const api = new ApiClient((await services.start(services.newFolder())).http)
  await storedAttachment(api, anyBytes(400_000))
  const { to } = await backUp(api, folder.file('backup'))
  const path = `${to}/files.zst`
  const bytes = readFileSync(path)
  bytes[300_000] = (bytes[300_000] ?? 0) ^ 1
  writeFileSync(path, bytes)

  const words = ['restore', '--from', to, '--data-dir', folder.file('restored')]
  const { code, stderr } = await streamvault(words)

  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('files.zst') })
  expect(readdirSync(folder.path)).toEqual(['backup'])
})
