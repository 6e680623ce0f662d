import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import {
  resultOf,
  settingsOf,
  startStreamvault,
  streamvault,
  streamvaultJson,
} from '../support/command-line.ts'
import { download, exported, type JobBody } from '../support/exports.ts'
import { FaultyService } from '../support/faulty-service.ts'
import { runningService } from '../support/running-service.ts'
import { at } from '../support/seconds.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const service = runningService()
let streamId = ''

beforeAll(async () => {
  const { api } = service
  streamId = await api.createStream({ temperature: { type: 'number' } })
  const readings = Array.from({ length: 1_000 }, (_, second) => ({
    timestamp: at(second),
    temperature: second,
  }))
  await api.withToken('POST', `/streams/${streamId}/data`, readings)
  await api.settled(streamId, readings.length)
})

function environment(): Readonly<Record<string, string>> {
  return settingsOf(service.process.dataDir)
}

function words(folder: TemporaryFolder, stream = streamId): readonly string[] {
  return ['export', stream, '--format', 'csv', '--output', folder.path]
}

/** The file of an export of the service, and what is in it. */
async function expectedFile(): Promise<{ readonly job: JobBody; readonly text: string }> {
  const job = await exported(service.api, { streamIds: [streamId], format: 'csv' })
  return { job, text: await (await download(service, job, job.files[0])).text() }
}

test('export brings the files of a job into a folder, and leaves nothing else behind', async () => {
  using folder = new TemporaryFolder()
  const before = await service.api.withToken<readonly unknown[]>('GET', '/exports')
  const result = await streamvaultJson<{ rows: number; files: readonly string[] }>(
    words(folder),
    environment(),
  )
  const after = await service.api.withToken<readonly unknown[]>('GET', '/exports')
  const { text } = await expectedFile()

  expect(result.rows).toBe(1_000)
  expect(readdirSync(folder.path)).toEqual(result.files)
  expect(readFileSync(folder.file(result.files[0] ?? ''), 'utf8')).toBe(text)
  expect(after.body).toHaveLength(before.body.length)
})

test('export goes on with what was interrupted: with the job, and within the file', async () => {
  using folder = new TemporaryFolder()
  const { job, text } = await expectedFile()
  const [file] = job.files
  const request = { streamIds: [streamId], format: 'csv' }
  const note = JSON.stringify({ exportId: job.exportId, request })
  writeFileSync(folder.file('.export.json'), note)
  writeFileSync(folder.file(`${file?.name}.part`), text.slice(0, 5_000))
  const { files } = await streamvaultJson<{ files: readonly string[] }>(
    words(folder),
    environment(),
  )

  expect(files).toEqual([file?.name])
  expect(readFileSync(folder.file(file?.name ?? ''), 'utf8')).toBe(text)
  expect((await service.api.withToken('GET', `/exports/${job.exportId}`)).status).toBe(404)
})

test('what is not what the service has written is not taken', async () => {
  using folder = new TemporaryFolder()
  const { job, text } = await expectedFile()
  const name = job.files[0]?.name ?? ''
  const request = { streamIds: [streamId], format: 'csv' }
  writeFileSync(folder.file('.export.json'), JSON.stringify({ exportId: job.exportId, request }))
  writeFileSync(folder.file(`${name}.part`), 'x'.repeat(5_000))
  const damaged = await streamvault(words(folder), environment())
  await streamvaultJson(words(folder), environment())

  expect(damaged.code).toBe(1)
  expect(damaged.stderr).toContain('came damaged')
  expect(readFileSync(folder.file(name), 'utf8')).toBe(text)
})

test('a folder that holds another export is left alone', async () => {
  using folder = new TemporaryFolder()
  writeFileSync(folder.file('.export.json'), JSON.stringify({ exportId: 'x', request: {} }))
  const { code, stderr } = await streamvault(words(folder), environment())

  expect(code).toBe(1)
  expect(stderr).toContain('another export')
})

test('Ctrl-C cancels the job, and the same command goes on with it', async () => {
  using folder = new TemporaryFolder()
  await using faulty = await FaultyService.start()
  const { api, faults } = faulty
  const stream = await api.createStream()
  const settings = settingsOf(faulty.dataDir)
  // One job of an owner runs at a time: this one waits behind another, which stands still.
  faults.begin('hold', '/exports/')
  await api.withToken('POST', '/exports', { streamIds: [stream], format: 'csv' })
  const child = startStreamvault(words(folder, stream), settings)
  const ended = resultOf(child)
  await expect.poll(() => existsSync(folder.file('.export.json'))).toBe(true)
  child.kill('SIGINT')
  const { code, stderr } = await ended
  const { exportId } = JSON.parse(readFileSync(folder.file('.export.json'), 'utf8')) as JobBody
  const cancelled = await api.withToken<JobBody>('GET', `/exports/${exportId}`)
  faults.end()
  await streamvaultJson(words(folder, stream), settings)

  expect(code).toBe(1)
  expect(stderr).toMatch(
    /cancelled after \d+ readings: .* is not complete\nWhat to do: Run the same command again/,
  )
  expect(cancelled.body.state).toBe('cancelled')
  expect(existsSync(folder.file('.export.json'))).toBe(false)
})
