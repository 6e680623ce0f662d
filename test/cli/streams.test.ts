import { readFileSync, writeFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, test } from 'vitest'
import {
  resultOf,
  settingsOf,
  startStreamvault,
  streamvault,
  streamvaultJson,
} from '../support/command-line.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const service = runningService()

function environment(): Readonly<Record<string, string>> {
  return settingsOf(service.process.dataDir)
}

const json = <Result>(...words: readonly string[]) => streamvaultJson<Result>(words, environment())

interface Stream {
  readonly streamId: string
  readonly name: string
  readonly status: string
}

/** Readings as a program that waits for them prints them. */
async function linesOf(words: readonly string[]): Promise<readonly unknown[]> {
  const { code, stdout, stderr } = await streamvault(words, environment())
  if (code !== 0) throw new Error(stderr)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}

function at(minute: number): string {
  return new Date(Date.UTC(2026, 0, 31, 10, minute)).toISOString().replace('Z', '000Z')
}

async function pushed(count: number, schema?: object): Promise<string> {
  const { api } = service
  const streamId = await api.createStream(schema)
  const readings = Array.from({ length: count }, (_, minute) => ({
    timestamp: at(minute),
    temperature: minute + 0.5,
  }))
  await api.withToken('POST', `/streams/${streamId}/data`, readings)
  await api.settled(streamId, count)
  return streamId
}

test('streams are created, listed, shown, paused, resumed and deleted', async () => {
  using folder = new TemporaryFolder()
  const { api } = service
  const model = await api.withToken<{ vaultId: string }>('GET', `/streams/${await pushed(1)}`)
  const file = folder.file('stream.json')
  const definition = {
    name: 'by command',
    vaultId: model.body.vaultId,
    type: 'iot_sensor',
    schema: { level: { type: 'integer' } },
  }
  writeFileSync(file, JSON.stringify(definition))

  const made = await json<Stream>('streams', 'create', '--file', file)
  const listed = await json<Stream[]>('streams', 'list')
  const shown = await json<Stream>('streams', 'get', made.streamId)
  const paused = await json<Stream>('streams', 'pause', made.streamId)
  const resumed = await json<Stream>('streams', 'resume', made.streamId)
  const status = await json<Stream>('streams', 'status', made.streamId)
  await json('streams', 'delete', made.streamId)

  expect(listed.map(({ streamId }) => streamId)).toContain(made.streamId)
  expect(shown).toMatchObject(definition)
  expect([paused.status, resumed.status, status.status]).toEqual(['paused', 'created', 'created'])
  const gone = await streamvault(['streams', 'get', made.streamId], environment())
  expect(gone).toMatchObject({ code: 1, stdout: '' })
  expect(gone.stderr).toMatch(`streamvault: no stream ${made.streamId}\nWhat to do: `)
})

describe('tail', () => {
  test('prints stored readings, then those that arrive', async () => {
    const streamId = await pushed(5)

    const child = startStreamvault(['tail', streamId, '--last', '2', '--count', '4'], environment())
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    const result = resultOf(child)
    const path = `/streams/${streamId}/data`
    await service.api.withToken('POST', path, [{ temperature: 7 }, { temperature: 8 }])

    // The first two may have come in the piece that was waited for.
    expect((await result).code).toBe(0)
    const again = await linesOf(['tail', streamId, '--last', '4', '--count', '4'])
    expect(again).toMatchObject([3.5, 4.5, 7, 8].map((temperature) => ({ temperature })))
  })

  test('goes on from a position that it has printed', async () => {
    const streamId = await pushed(6)
    const words = ['tail', streamId, '--start', at(0), '--count', '3', '--json']

    const first = (await linesOf(words)) as { position: string }[]
    const position = first.at(-1)?.position ?? ''
    const rest = await linesOf(['tail', streamId, '--from', position, '--count', '3'])

    expect(rest).toMatchObject([3.5, 4.5, 5.5].map((temperature) => ({ temperature })))
  })

  test.each([
    [['--from', 'nonsense'], 'invalid_request'],
    [['--from', Buffer.from('1 999999999').toString('base64url')], 'position_expired'],
  ])('fails with what the service says of %j', async (words, error) => {
    const streamId = await service.api.createStream()
    const { code, stderr } = await streamvault(
      ['tail', streamId, ...words, '--json'],
      environment(),
    )

    expect({ code, error: (JSON.parse(stderr) as { error: string }).error }).toEqual({
      code: 1,
      error,
    })
  })
})

describe('replay', () => {
  const csv = [
    'when,temp,note,on',
    '2026-01-31T10:00:00Z,21.5,"a, b",true',
    '2026-01-31T10:01:00Z,,,false',
    '2026-01-31T10:02:00Z,hot,c,true',
    '2026-01-31T10:03:00Z,-3e1,12,',
  ].join('\n')
  const schema = {
    temperature: { type: 'number' },
    note: { type: 'string' },
    on: { type: 'boolean' },
  }

  test('sends rows as the stream declares them, and again without storing them twice', async () => {
    using folder = new TemporaryFolder()
    const { api } = service
    const streamId = await api.createStream(schema)
    const file = folder.file('readings.csv')
    writeFileSync(file, csv)
    const words = [streamId, file, '--timestamp-column', 'when', '--map', 'temp=temperature']

    const first = await json('replay', ...words)
    const second = await json('replay', ...words)
    await api.settled(streamId, 8)

    expect([first, second]).toEqual([
      { accepted: 3, rejected: 1 },
      { accepted: 3, rejected: 1 },
    ])
    expect(await api.readAll(streamId)).toEqual([
      { timestamp: at(0), temperature: 21.5, note: 'a, b', on: true },
      { timestamp: at(1), on: false },
      { timestamp: at(3), temperature: -30, note: '12' },
    ])
  })

  test('sends no integer that a double would round', async () => {
    using folder = new TemporaryFolder()
    const { api } = service
    const streamId = await api.createStream({
      level: { type: 'number' },
      place: { type: 'object' },
    })
    const file = folder.file('readings.csv')
    const cells = [
      '9007199254740993,',
      ',"{""id"":9007199254740993}"',
      '602000000000000000000,"{""id"":6.02e20}"',
    ]
    writeFileSync(file, ['level,place', ...cells].join('\n'))

    expect(await json('replay', streamId, file)).toEqual({ accepted: 1, rejected: 2 })
    await api.settled(streamId, 3)
    const values = { level: 6.02e20, place: { id: 6.02e20 } }
    expect(await api.readAll(streamId)).toMatchObject([values])
  })

  test('sends more than one batch, and rows at a speed', async () => {
    using folder = new TemporaryFolder()
    const { api } = service
    const streamId = await api.createStream()
    const file = folder.file('readings.csv')
    const rows = Array.from({ length: 2_500 }, (_, index) => `${index}`)
    writeFileSync(file, `temperature\n${rows.join('\n')}\n`)
    const paced = folder.file('paced.csv')
    writeFileSync(paced, `timestamp,temperature\n${at(0)},1\n${at(1)},2\n${at(2)},3\n`)

    expect(await json('replay', streamId, file)).toEqual({ accepted: 2_500, rejected: 0 })
    const speed = ['--speed', '1000']
    expect(await json('replay', streamId, paced, ...speed)).toEqual({ accepted: 3, rejected: 0 })

    expect(await api.settled(streamId, 2_503)).toMatchObject({ stored: 2_503, duplicates: 0 })
  })

  test('stores equal rows as often as they stand in a file, however often it is sent', async () => {
    using folder = new TemporaryFolder()
    const { api } = service
    const streamId = await api.createStream()
    const file = folder.file('equal.csv')
    writeFileSync(file, `temperature\n${'1\n'.repeat(2_500)}`)

    expect(await json('replay', streamId, file)).toEqual({ accepted: 2_500, rejected: 0 })
    const once = { stored: 2_500, duplicates: 0 }
    expect(await api.settled(streamId, 2_500)).toMatchObject(once)
    await json('replay', streamId, file)
    const twice = { stored: 2_500, duplicates: 2_500 }
    expect(await api.settled(streamId, 5_000)).toMatchObject(twice)
  })

  test('fails for a file that is none', async () => {
    const streamId = await service.api.createStream()
    const words = ['replay', streamId, '/nowhere/readings.csv']

    const { code, stderr } = await streamvault(words, environment())

    expect(code).toBe(1)
    expect(stderr).toMatch(/^streamvault: \/nowhere\/readings.csv cannot be read: ENOENT/)
  })
})

describe('export', () => {
  test('writes CSV and NDJSON as the service answers them', async () => {
    using folder = new TemporaryFolder()
    const streamId = await pushed(30)
    const [csv, lines] = [folder.file('out.csv'), folder.file('out.ndjson')]

    await json('export', streamId, '--format', 'csv', '--out', csv)
    const range = ['--start', at(10), '--end', at(12)]
    await json('export', streamId, '--format', 'ndjson', '--out', lines, ...range)

    const [header, first, ...rest] = readFileSync(csv, 'utf8').trimEnd().split(/\r?\n/)
    expect(header).toMatch(/^timestamp,temperature/)
    expect(first).toMatch(new RegExp(`^${at(0)},0.5`))
    expect(rest).toHaveLength(29)
    expect(
      readFileSync(lines, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([10, 11].map((minute) => ({ timestamp: at(minute), temperature: minute + 0.5 })))
  })

  test('writes Parquet with the columns of the definition', async () => {
    using folder = new TemporaryFolder()
    const { api } = service
    const streamId = await api.createStream({
      temperature: { type: 'number' },
      starts: { type: 'integer' },
      since: { type: 'datetime' },
    })
    const reading = { timestamp: at(0), temperature: 1.25, starts: 7, since: at(1), colour: 'red' }
    await api.withToken('POST', `/streams/${streamId}/data`, [reading, { timestamp: at(5) }])
    await api.settled(streamId, 2)
    const file = folder.file('out.parquet')

    await json('export', streamId, '--format', 'parquet', '--out', file)

    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    const found = await connection.runAndReadAll(
      `SELECT epoch_us(timestamp)::DOUBLE AS t, temperature, starts::INTEGER AS starts,
         epoch_us(since)::DOUBLE AS since, extra FROM read_parquet('${file}') ORDER BY t`,
    )
    expect(found.getRowObjectsJS()).toEqual([
      {
        t: Date.parse(at(0)) * 1_000,
        temperature: 1.25,
        starts: 7,
        since: Date.parse(at(1)) * 1_000,
        extra: '{"colour":"red"}',
      },
      { t: Date.parse(at(5)) * 1_000, temperature: null, starts: null, since: null, extra: null },
    ])
    connection.closeSync()
    instance.closeSync()
  })

  test('leaves no file behind that is not complete', async () => {
    using folder = new TemporaryFolder()
    const file = folder.file('out.csv')
    const words = ['export', await pushed(1), '--format', 'csv', '--out', file, '--start', 'soon']

    const { code } = await streamvault(words, environment())

    expect(code).toBe(1)
    expect(() => readFileSync(file)).toThrow('ENOENT')
    expect(() => readFileSync(`${file}.part`)).toThrow('ENOENT')
  })
})

test('without a service these commands say so', async () => {
  using folder = new TemporaryFolder()
  const { code, stderr } = await streamvault(['streams', 'list', '--json'], {
    STREAMVAULT_DATA_DIR: folder.path,
  })

  expect(code).toBe(1)
  expect((JSON.parse(stderr) as { error: string }).error).toBe('no_service')
})
