import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { encode } from 'cborg'
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

const environment = () => settingsOf(service.process.dataDir)
const isMosquittoMissing = spawnSync('mosquitto_pub', ['--help']).error !== undefined

interface Prepared {
  readonly vaultId: string
  readonly streamId: string
  readonly deviceId: string
  readonly deviceSecret: string | null
  readonly made: { readonly vault: boolean; readonly stream: boolean; readonly device: boolean }
  readonly fields: readonly string[]
  readonly sample: { readonly accepted: number; readonly rejected: number }
  readonly publish: { readonly mqtt: string; readonly http: string }
}

const init = (...words: readonly string[]) =>
  streamvaultJson<Prepared>(['init', ...words], environment())

/** Runs a command that was printed, as a person would who copies it. */
function runInShell(command: string, cwd = '.'): void {
  const { status, stderr } = spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8' })
  expect({ command, status, stderr }).toEqual({ command, status: 0, stderr: '' })
}

/** Readings without their times, once there are so many. */
async function stored(streamId: string, count: number): Promise<readonly object[]> {
  expect(await service.api.settled(streamId, count)).toMatchObject({ quarantined: 0 })
  const readings = await service.api.readAll(streamId)
  return readings.map((reading) => ({ ...reading, timestamp: undefined }))
}

describe.skipIf(isMosquittoMissing && !process.env['CI'])(
  'the commands that it prints publish',
  () => {
    // Without a time of its own the same message is another reading each time.
    test.each([
      ['an object', '{"temperature": 61.5}', [{ temperature: 61.5 }]],
      [
        'a text with quotes',
        '{"note": "it\'s \\"hot\\" $HOME `id`"}',
        [{ note: 'it\'s "hot" $HOME `id`' }],
      ],
      ['several readings', '[{"a": 1}, {"a": 2}]', [{ a: 1 }, { a: 2 }]],
      ['members within', '{"ENERGY": {"Power": 84}}', [{ energy_power: 84 }]],
    ])('%s', async (name, sample, expected) => {
      const { streamId, publish, sample: verdict } = await init('--name', name, '--sample', sample)

      runInShell(publish.mqtt)
      runInShell(`${publish.http} >/dev/null`)

      expect(verdict).toMatchObject({ accepted: expected.length, rejected: 0 })
      expect(await stored(streamId, 2 * expected.length)).toEqual([...expected, ...expected])
    })

    test.each([
      ['one value', 'value.txt', Buffer.from('21.5\n'), [{ value: 21.5 }]],
      [
        'CSV',
        'rows.csv',
        Buffer.from('level,door\n1.5,open\n2.5,shut\n'),
        [
          { level: 1.5, door: 'open' },
          { level: 2.5, door: 'shut' },
        ],
      ],
      ['lines', 'rows.ndjson', Buffer.from('{"a": 1}\n{"a": 2}\n'), [{ a: 1 }, { a: 2 }]],
      ['CBOR', 'message.cbor', Buffer.from(encode({ level: 1.5 })), [{ level: 1.5 }]],
      [
        'what is long',
        'long.json',
        Buffer.from(JSON.stringify({ text: 'x'.repeat(5_000) })),
        [{ text: 'x'.repeat(5_000) }],
      ],
    ])('%s of a file', async (name, file, bytes, expected) => {
      using folder = new TemporaryFolder()
      const path = folder.file(file)
      writeFileSync(path, bytes)
      const { streamId, publish } = await init('--name', name, '--sample', path)

      runInShell(publish.mqtt, folder.path)
      runInShell(`${publish.http} >/dev/null`, folder.path)

      expect(await stored(streamId, 2 * expected.length)).toEqual([...expected, ...expected])
    })

    test('what came out of a pipe', async () => {
      const words = ['init', '--name', 'piped', '--json']
      const child = startStreamvault(words, environment(), 'pipe')
      child.stdin?.end(Buffer.from(encode({ level: 7.5 })))
      const { streamId, publish } = JSON.parse((await resultOf(child)).stdout) as Prepared

      runInShell(publish.mqtt)
      runInShell(`${publish.http} >/dev/null`)

      expect(publish.mqtt).toMatch(/^printf '/)
      expect(await stored(streamId, 2)).toEqual([{ level: 7.5 }, { level: 7.5 }])
    })
  },
)

test('run again, it keeps what exists, and shows no secret unless a new one is wanted', async () => {
  const words = ['--name', 'again', '--sample', '{"temperature": 1}']
  const first = await init(...words)
  const second = await init(...words)
  const text = await streamvault(['init', ...words], environment())
  const rotated = await init(...words, '--rotate')

  const { vaultId, streamId, deviceId } = first
  expect(first.made).toEqual({ vault: true, stream: true, device: true })
  expect(second).toMatchObject({
    vaultId,
    streamId,
    deviceId,
    deviceSecret: null,
    made: { vault: false, stream: false, device: false },
  })
  expect(text.stdout).toMatch(new RegExp(`^stream +${streamId} +exists already$`, 'm'))
  expect(text.stdout).toContain(`npx streamvault devices rotate ${deviceId}`)
  expect(text.stdout).toContain('-P SECRET ')
  expect(rotated).toMatchObject({ deviceId, made: { device: false } })
  expect(rotated.deviceSecret).toMatch(/^[\w-]{43}$/)
  expect(rotated.deviceSecret).not.toBe(first.deviceSecret)
})

test('a vault without its stream is used, and nothing of a longer name', async () => {
  const make = ['vaults', 'create', '--name']
  const longer = await streamvaultJson<Prepared>([...make, 'silo 10'], environment())
  const own = await streamvaultJson<Prepared>([...make, 'silo 1'], environment())

  await init('--name', 'silo 12', '--sample', '{"a": 1}')
  const found = await init('--name', 'silo 1', '--sample', '{"a": 1}')
  const named = await init('--name', 'x', '--vault', longer.vaultId, '--sample', '{"a": 1}')

  expect(found).toMatchObject({ vaultId: own.vaultId, made: { vault: false, stream: true } })
  expect(named).toMatchObject({ vaultId: longer.vaultId, made: { vault: false, stream: true } })
})

test('a sample that an existing stream does not accept is exit code 1, with the reason and the remedy', async () => {
  const words = ['init', '--name', 'strict', '--sample']
  await streamvault([...words, '{"temperature": 1}'], environment())

  const { code, stdout } = await streamvault([...words, '{"temperature": "hot"}'], environment())
  const notJson = await streamvault([...words, '{"temperature": '], environment())

  expect(code).toBe(1)
  expect(stdout).toMatch(
    /^The sample: 0 accepted, 1 rejected\.\nRejected: temperature must be number\nWhat to do: /m,
  )
  expect(notJson.code).toBe(1)
  expect(notJson.stdout).toMatch(/^The sample: 0 accepted, 1 rejected\.\nRejected: /m)
  // What would be refused is not proposed to be sent.
  expect(notJson.stdout).not.toContain('mosquitto_pub')
  expect(stdout).toContain('The data stream "strict" exists already')
  expect(stdout).toContain("npx streamvault init --name 'NAME' --sample 'SAMPLE'")
})

test.each([
  ['', 'the sample is empty'],
  ['no-such-file.json', 'no-such-file.json cannot be read: ENOENT'],
  ['test', 'test cannot be read: it is a folder'],
  ['{}', 'What to do: Send messages that have at least one member'],
  ['{"temperature": 1', 'the sample is not JSON: '],
  ["{'temperature': 1}", 'What to do: Paste all of the message, with double quotes'],
])('the sample %j makes nothing, and says why', async (sample, problem) => {
  const name = `nothing ${sample}`
  const child = startStreamvault(
    ['init', '--name', name, ...(sample === '' ? [] : ['--sample', sample])],
    environment(),
  )
  const { code, stderr } = await resultOf(child)
  const vaults = ['vaults', 'list', '--contains', name]

  expect(stderr).toContain(problem)
  expect(code).toBe(1)
  expect(await streamvaultJson(vaults, environment())).toEqual([])
})

test.each([
  ['a table', 'time,level,door\n2026-01-31T10:00:00Z,1.5,open\n2026-01-31T10:01:00Z,2,shut\n', 2],
  ['objects in lines', '{"level": 1.5}\n{"level": 2}\n', 2],
  ['lines of InfluxDB', 'weather,site=roof level=1\nweather,site=yard level=2\n', 2],
  ['a text', 'the roof is wet,\nand the yard is not\n', 1],
])('%s that comes through a pipe is recognised', async (name, sample, accepted) => {
  const child = startStreamvault(['init', '--name', name, '--json'], environment(), 'pipe')
  child.stdin?.end(sample)
  const { fields, sample: verdict } = JSON.parse((await resultOf(child)).stdout) as Prepared

  expect(verdict).toMatchObject({ accepted, rejected: 0 })
  expect(fields).toContain(name === 'a text' ? 'value' : 'level')
})

test('the rule that is proposed compares a value, not the time', async () => {
  const sample = '{"ts": 1764270000, "values": {"temp_c": 21.5}}'
  const words = ['init', '--name', 'epoch', '--sample', sample]
  const { stdout } = await streamvault(words, environment())

  expect(stdout).toContain('--field values_temp_c --above N')
})

test('streams infer proposes a definition that streams create accepts', async () => {
  using folder = new TemporaryFolder()
  const sample = ['--sample', '{"Time": "2026-01-31T09:59:58", "power": 84}']
  const { stdout, stderr } = await streamvault(['streams', 'infer', ...sample], environment())
  const proposal = JSON.parse(stdout) as object
  const vaultId = await service.api.createVault()
  const file = folder.file('stream.json')
  writeFileSync(file, JSON.stringify({ name: 'inferred', vaultId, ...proposal }))

  const words = ['streams', 'create', '--file', file]
  expect(await streamvaultJson(words, environment())).toMatchObject({ name: 'inferred' })
  expect(stderr).toContain('note: source.timezone: ')
})
