import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { settingsOf, streamvault, streamvaultJson } from '../support/command-line.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const service = runningService()

const environment = () => settingsOf(service.process.dataDir)
const json = <Result>(...words: readonly string[]) => streamvaultJson<Result>(words, environment())
const run = (...words: readonly string[]) => streamvault(words, environment())

type Row = Readonly<Record<string, unknown>>

describe('a list', () => {
  test('brings every page, by cursors and by numbers, and as many as are wanted', async () => {
    const { api } = service
    const streamId = await api.createStream()
    const readings = Array.from({ length: 2_300 }, (_, index) => ({
      timestamp: new Date(Date.UTC(2026, 0, 1) + index * 1_000).toISOString(),
      temperature: index,
    }))
    await api.withToken('POST', `/streams/${streamId}/data`, readings)
    await api.settled(streamId, 2_300)
    for (let number = 0; number < 101; number++) {
      await api.withToken('POST', '/templates', {
        name: `many ${number}`,
        hint: 'many',
        required_streams: [],
      })
    }
    const words = ['readings', 'list', streamId]

    const all = await json<{ temperature: number }[]>(...words, '--limit', '10000')
    const newest = await json<{ temperature: number }[]>(
      ...words,
      '--order',
      'desc',
      '--limit',
      '1500',
    )
    const some = await run(...words, '--limit', '2')
    const named = await json<Row[]>('templates', 'list', '--search', 'many')

    expect(all.map(({ temperature }) => temperature)).toEqual(readings.map((_, index) => index))
    expect(newest.map(({ temperature }) => temperature)).toEqual(
      Array.from({ length: 1_500 }, (_, index) => 2_299 - index),
    )
    expect(some).toEqual({
      code: 0,
      stdout:
        'TIME                  temperature\n2026-01-01T00:00:00Z  0\n2026-01-01T00:00:01Z  1\n',
      stderr: 'There are more than these 2: --limit N shows more, up to 1000000.\n',
    })
    expect(new Set(named.map(({ id }) => id)).size).toBe(101)
  })

  test('shows what a terminal would obey as text', async () => {
    await service.api.withToken('POST', '/templates', {
      name: 'bell\u0007 \u001b[31mred',
      hint: 'h',
      required_streams: [],
    })

    const { stdout } = await run('templates', 'list', '--search', 'bell')

    expect(stdout).toContain('bell\\u0007 \\u001b[31mred')
    expect(stdout).not.toContain('\u001b')
  })
})

test('a stream is changed by the members of a file, while it has the version that was looked at', async () => {
  using folder = new TemporaryFolder()
  const streamId = await service.api.createStream()
  writeFileSync(folder.file('change.json'), JSON.stringify({ name: 'renamed' }))
  const words = ['streams', 'update', streamId, '--file', folder.file('change.json')]

  const late = await run(...words, '--if-version', '7')
  const changed = await json('streams', 'update', streamId, ...words.slice(3), '--if-version', '1')

  expect(late.code).toBe(1)
  expect(late.stderr).toContain('What to do: Read the resource again')
  expect(changed).toMatchObject({ streamId, name: 'renamed', version: 2 })
})

function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
}

test('the status of a stream shows each term of what was received, and what is left of the stored ones', async () => {
  const { api } = service
  const streamId = await api.createStream(undefined, {
    processing: { transform: [{ filter: { expression: 'temperature > -100.0' } }] },
  })
  await api.withToken('POST', `/streams/${streamId}/data`, [
    ...[1, 2, 2, 3].map((second) => ({ timestamp: at(second), temperature: second })),
    { timestamp: at(4), temperature: -200 },
    { timestamp: at(5), temperature: 'hot' },
  ])
  await api.settled(streamId, 6)
  const range = `start=${at(1)}&end=${at(2)}`
  expect((await api.withToken('DELETE', `/streams/${streamId}/data?${range}`)).status).toBe(204)

  const { stdout } = await run('streams', 'status', streamId)

  const [, ...sums] = stdout.split('\n\n')
  const counts = [...sums.join('\n').matchAll(/^([=+]? ?[a-z ]+?) +(\d+)(?: {2}|$)/gm)]
  expect(counts.map(([, name, count]) => `${name} ${count}`)).toEqual([
    'received 6',
    '= stored 3',
    '+ duplicates 1',
    '+ unchanged 0',
    '+ filtered 1',
    '+ quarantined 1',
    '+ discarded 0',
    '+ pending 0',
    'stored 3',
    '= readable now 2',
    '+ deleted 1',
    '+ expired 0',
  ])
})
