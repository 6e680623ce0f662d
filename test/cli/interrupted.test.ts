import { existsSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { firstOutput, resultOf, settingsOf, startStreamvault } from '../support/command-line.ts'
import { runningService } from '../support/running-service.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

// What a command prints when Ctrl-C ends it.

const service = runningService()

const environment = () => settingsOf(service.process.dataDir)

const start = (...words: readonly string[]) => startStreamvault(words, environment())

async function streamWith(readings: number): Promise<string> {
  const streamId = await service.api.createStream()
  const body = Array.from({ length: readings }, (_, temperature) => ({ temperature }))
  await service.api.withToken('POST', `/streams/${streamId}/data`, body)
  await service.api.settled(streamId, readings)
  return streamId
}

async function proxied(): Promise<TcpProxy> {
  return await TcpProxy.start(Number(new URL(service.process.http).port))
}

test('tail says how many readings there were, since when, and how to go on', async () => {
  const streamId = await streamWith(2)
  const child = start('tail', streamId, '--last', '1')
  const printed = await firstOutput(child)
  const ended = resultOf(child)
  child.kill('SIGINT')
  const { code, stderr } = await ended

  const [, time = '', position = ''] =
    /^1 reading since (\S+Z); --from (\S+) goes on from here\n$/.exec(stderr) ?? []
  expect({ code, printed: JSON.parse(printed) as object }).toMatchObject({
    code: 0,
    printed: { temperature: 1 },
  })
  expect(Date.now() - Date.parse(time)).toBeLessThan(600_000)
  await service.api.withToken('POST', `/streams/${streamId}/data`, { temperature: 7 })
  const next = start('tail', streamId, '--from', position, '--count', '1', '--json')
  expect((await resultOf(next)).stdout).toContain('"temperature":7')
})

test('tail --json says it as an object', async () => {
  const child = start('tail', await streamWith(2), '--last', '2', '--json')
  const ended = resultOf(child)
  let lines = ''
  child.stdout?.on('data', (chunk: Buffer) => (lines += chunk.toString()))
  await expect.poll(() => lines.split('\n')).toHaveLength(3)
  child.kill('SIGINT')
  const { code, stdout, stderr } = await ended

  const [, last = ''] = stdout.split('\n')
  expect(code).toBe(0)
  expect(JSON.parse(stderr)).toEqual({
    readings: 2,
    since: expect.stringMatching(/Z$/) as string,
    position: (JSON.parse(last) as { position: string }).position,
  })
})

test('tail ends while it waits for a service that is away', async () => {
  const proxy = await proxied()
  const url = `http://127.0.0.1:${proxy.port}`
  const child = start('tail', await streamWith(1), '--last', '1', '--url', url)
  await firstOutput(child)
  const ended = resultOf(child)
  await proxy[Symbol.asyncDispose]()
  child.kill('SIGINT')

  expect(await ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/^1 reading since/) })
})

test('replay says how many rows were accepted, and that the file can be sent again', async () => {
  using folder = new TemporaryFolder()
  const streamId = await service.api.createStream()
  const file = folder.file('hours.csv')
  const rows = [10, 11, 12].map((hour) => `2026-01-31T${hour}:00:00Z,${hour}`)
  writeFileSync(file, `timestamp,temperature\n${rows.join('\n')}\n`)
  const child = start('replay', streamId, file, '--speed', '1')
  const ended = resultOf(child)
  await service.api.settled(streamId, 1)
  child.kill('SIGINT')

  expect(await ended).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'streamvault: stopped after 1 accepted, 0 rejected\n' +
      'What to do: Run the same command again: it sends the file from its beginning, and nothing is stored twice.\n',
  })
  expect(await service.api.readAll(streamId)).toHaveLength(1)
})

test('simulate says how many readings were sent and acknowledged', async () => {
  const child = start('simulate', '--devices', '2', '--rate', '50', '--faults', '0')
  const ended = resultOf(child)
  let announced = ''
  child.stderr?.on('data', (chunk: Buffer) => (announced += chunk.toString()))
  await expect.poll(() => announced).toMatch(/^publishing to (\S+), /)
  const [, streamId = ''] = /^publishing to (\S+), /.exec(announced) ?? []
  await service.api.settled(streamId, 5)
  child.kill('SIGINT')
  const { code, stdout } = await ended

  const [, sent, acknowledged] =
    /^(\d+) readings sent, (\d+) acknowledged, by 2 devices\n$/.exec(stdout) ?? []
  expect(code).toBe(0)
  expect(Number(sent)).toBeGreaterThanOrEqual(5)
  expect(acknowledged).toBe(sent)
})

test('export says that the file was not written, and leaves nothing of it', async () => {
  using folder = new TemporaryFolder()
  await using proxy = await proxied()
  const file = folder.file('out.ndjson')
  const streamId = await streamWith(3_000)
  const words = ['--format', 'ndjson', '--out', file, '--url', `http://127.0.0.1:${proxy.port}`]
  // In the middle of the answer with the readings.
  proxy.holdIn('GET /streams/', 20_000)
  const child = start('export', streamId, ...words)
  const ended = resultOf(child)
  await expect.poll(() => proxy.isHolding).toBe(true)
  child.kill('SIGINT')

  expect(await ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^streamvault: cancelled: \S+ was not written\nWhat to do: Run the same command again/,
    ),
  })
  expect([existsSync(file), existsSync(`${file}.part`)]).toEqual([false, false])
})
