import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { settingsOf, streamvault, streamvaultJson } from '../support/command-line.ts'
import { runningService } from '../support/running-service.ts'
import { at } from '../support/seconds.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const service = runningService()

function environment(): Readonly<Record<string, string>> {
  return settingsOf(service.process.dataDir)
}

function newStream(): Promise<string> {
  return service.api.createStream({ temperature: { type: 'number' } })
}

function lines(count: number): string {
  const rows = Array.from({ length: count }, (_, second) => {
    const timestamp = at(second)
    return `${timestamp},${second}`
  })
  return ['timestamp,temperature', ...rows].join('\n')
}

test('import brings a file into a stream, tells how far it is, and what became of it', async () => {
  using folder = new TemporaryFolder()
  const file = folder.file('readings.csv')
  writeFileSync(file, `${lines(2_000)}\n2026-01-31T00:00:00Z,warm\n`)
  const streamId = await newStream()

  const { code, stdout, stderr } = await streamvault(
    ['import', streamId, file, '--json'],
    environment(),
  )

  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    accepted: 2_000,
    refused: 1,
    duplicates: 0,
    refusals: [{ row: 2_001 }],
  })
  const told = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { state: string; progress: number })
  expect(told.map(({ state }) => state)).toContain('sending')
  expect(told.at(-1)).toMatchObject({ state: 'completed', progress: 1 })
  await service.api.settled(streamId, 2_001)
  expect(await service.api.readAll(streamId)).toHaveLength(2_000)
})

test('import takes the format from the name, or as it is told', async () => {
  using folder = new TemporaryFolder()
  const text = '{"timestamp": "2026-01-31T00:00:00Z", "temperature": 1}\n'
  const [named, unnamed] = [folder.file('readings.jsonl'), folder.file('readings.txt')]
  for (const file of [named, unnamed]) writeFileSync(file, text)
  const streamId = await newStream()

  const refused = await streamvault(['import', streamId, unnamed], environment())
  const first = await streamvaultJson(['import', streamId, named], environment())
  const words = ['import', streamId, unnamed, '--format', 'ndjson']
  const second = await streamvaultJson(words, environment())

  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--format')])
  expect(first).toMatchObject({ accepted: 1, duplicates: 0 })
  expect(second).toMatchObject({ accepted: 1, duplicates: 1 })
})

test.each([
  ['a file that is not there', 'missing.csv', undefined, 'ENOENT'],
  [
    'a stream that is not there',
    'readings.csv',
    '01234567-89ab-4def-8123-456789abcdef',
    'no stream',
  ],
])('import of %s fails with the reason', async (_, name, stream, reason) => {
  using folder = new TemporaryFolder()
  writeFileSync(folder.file('readings.csv'), lines(100_000))
  const words = ['import', stream ?? (await newStream()), folder.file(name)]

  const { code, stderr } = await streamvault(words, environment())

  expect([code, stderr]).toEqual([1, expect.stringContaining(reason)])
})
