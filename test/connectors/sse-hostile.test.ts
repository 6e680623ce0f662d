import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { sse } from '../../connectors/web-events/sse.ts'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'
import { SourceTrials } from '../../src/streams/sources/source-trials.ts'
import { ApiServer } from '../support/api-server.ts'
import { makeCertificate } from '../support/certificate.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { RecordedRun } from '../support/recorded-run.ts'
import { flood, RudeServer } from '../support/rude-server.ts'
import { SsePeer } from '../support/sse-peer.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { standStill } from '../support/thread-stall.ts'

const folder = new TemporaryFolder()
const made = makeCertificate(folder.path, 'server', 'DNS:plant.example')
const certificate = { cert: made.authority, key: readFileSync(made.keyPath, 'utf8') }

afterAll(() => folder[Symbol.dispose]())

const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n'
const streamHead = { 'content-type': 'text/event-stream' }

function follow(endpoint: string, port: number, more: object = {}): RecordedRun {
  const source = { protocol: 'sse', endpoint, ...more }
  return new RecordedRun(sse.open({ streamId: newId<StreamId>(), source }), port)
}

async function endOf(speak: (socket: Socket) => void, more: object = {}) {
  await using server = await RudeServer.start(speak)
  await using run = follow(`http://127.0.0.1:${server.port}/`, server.port, more)
  return { end: (await run.ended) as Error, run }
}

describe('a server that does not mean well', () => {
  test.each([
    ['a line', 'data: ', 'a'.repeat(60_000)],
    ['an event', '', `data: ${'a'.repeat(60_000)}\n`],
  ])('cannot send %s without an end', async (_, beginning, more) => {
    const { end } = await endOf((socket) => {
      socket.write(head + beginning)
      flood(socket, more)
    })
    expect(end).toBeInstanceOf(SourceRefused)
    expect(end.message).toBe('an event is longer than 4 Mi characters')
  })

  test('can send comments without an end, which are nothing', async () => {
    await using server = await RudeServer.start((socket) => {
      socket.write(`${head}data: 1\n\n: `)
      for (let count = 0; count < 200; count++) socket.write('a'.repeat(50_000))
      socket.write('\n\ndata: 2\n\n')
    })
    await using run = follow(`http://127.0.0.1:${server.port}/`, server.port)
    await expect.poll(() => run.rows).toEqual(['1', '2'])
  })

  test.each<[string, (socket: Socket) => void, string]>([
    ['says nothing', () => undefined, 'there was no answer within 1 s'],
    [
      'begins an answer',
      (socket) => socket.write(head.slice(0, -2)),
      'there was no answer within 1 s',
    ],
    ['falls silent', (socket) => socket.write(`${head}data: 1\n`), 'nothing was sent for 1 s'],
  ])('is left when it %s', async (_, speak, reason) => {
    expect((await endOf(speak, { timeout: '1s' })).end.message).toBe(reason)
  })

  test('has not fallen silent while it sends comments', async () => {
    await using server = await ApiServer.start((_, answer) => {
      answer.writeHead(200, streamHead).write(':\n')
      const timer = setInterval(() => answer.write(':\n'), 300)
      answer.on('close', () => clearInterval(timer))
    })
    await using run = follow(server.origin, server.port, { timeout: '1s' })
    await expect(Promise.race([run.ended, sleep(1_500, 'there')])).resolves.toBe('there')
  })

  test('has not fallen silent when its comment came while nobody could read it', async () => {
    const answers: ServerResponse[] = []
    await using server = await ApiServer.start((_, answer) => {
      answers.push(answer.writeHead(200, streamHead))
      answer.flushHeaders()
    })
    await using run = follow(server.origin, server.port, { timeout: '1s' })
    await expect.poll(() => run.isRunning).toBe(true)
    // Behind it come timers, and only then what is to be read.
    await new Promise<void>((resolve) => {
      setImmediate(() => {
        answers[0]?.write(':\n')
        standStill(1_500)
        resolve()
      })
    })
    answers[0]?.write('data: 1\n\n')
    await expect.poll(() => run.rows).toEqual(['1'])
  })

  test.each<[string, string, string]>([
    ['no HTTP', 'no HTTP\r\n\r\n', 'no answer in HTTP'],
    [
      'headers without an end',
      `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`,
      'headers are larger',
    ],
    [
      'no whole chunk',
      `${head.slice(0, -2)}transfer-encoding: chunked\r\n\r\nff\r\ndata: 1\n\n`,
      'the connection was lost',
    ],
  ])('fails with %s', async (_, text, reason) => {
    const { end } = await endOf((socket) => socket.end(text))
    expect(end.message).toContain(reason)
  })

  test('is not read any further while the disk stands still', async () => {
    let written = 0
    await using server = await RudeServer.start((socket) => {
      socket.write(head)
      const event = `data: ${'a'.repeat(10_000)}\n\n`
      const write = () => {
        while (!socket.destroyed && socket.write(event)) written += event.length
      }
      socket.on('drain', write)
      write()
    })
    const { port } = server
    const source = { protocol: 'sse', endpoint: `http://127.0.0.1:${port}/`, timeout: '1s' }
    await using fetching = new FetchingSource({ connector: sse, source, ports: [port] })
    fetching.start()
    fetching.journal.hold()
    await expect.poll(() => fetching.runner.status.unacknowledged).toBeGreaterThan(400)
    // What the systems of both sides keep for the other comes on top.
    let before = -1
    while (before !== written) {
      before = written
      await sleep(200)
    }
    expect(fetching.runner.status.unacknowledged).toBeLessThan(500)
    expect(written).toBeLessThan(30_000_000)
    await sleep(1_200)
    fetching.journal.release()
    await expect.poll(() => fetching.runner.status.messages).toBeGreaterThan(1_000)
    expect(fetching.runner.status).toMatchObject({ state: 'running', lastError: undefined })
  })
})

test('what has come is waited for when the stream ends', async () => {
  const closed = Promise.withResolvers<void>()
  await using server = await ApiServer.start((_, answer) => {
    answer.on('close', () => closed.resolve())
    answer.writeHead(200, streamHead)
    answer.end('data: {"number":1,"timestamp":"2026-03-01T00:00:00Z"}\n\n')
  })
  const source = { protocol: 'sse', endpoint: server.origin }
  await using fetching = new FetchingSource({ connector: sse, source, ports: [server.port] })
  fetching.journal.hold()
  fetching.start()
  await closed.promise
  await expect.poll(() => fetching.runner.status.unacknowledged).toBe(1)
  await sleep(200)
  expect(fetching.runner.status.state).toBe('running')
  fetching.journal.release()
  await expect.poll(() => fetching.runner.status.state).toBe('failing')
  expect(fetching.entries().numbers).toEqual([1])
})

function sendOne(_: unknown, answer: ServerResponse): void {
  answer.writeHead(200, streamHead).write('data: 1\n\n')
}

describe('over TLS', () => {
  test('events come from a server that has the name which is expected', async () => {
    await using server = await ApiServer.start(sendOne, certificate)
    const tls = { ca: made.authority, servername: 'plant.example' }
    await using run = follow(server.origin, server.port, { tls })
    await expect.poll(() => run.rows).toEqual(['1'])
  })

  test.each<[string, object]>([
    ['nobody trusts', { servername: 'plant.example' }],
    ['has another name', { ca: made.authority, servername: 'other.example' }],
  ])('none come from one that %s', async (_, tls) => {
    await using server = await ApiServer.start(sendOne, certificate)
    await using run = follow(server.origin, server.port, { tls })
    expect(String(await run.ended)).toMatch(/self-signed|altnames/)
    expect(server.asked).toEqual([])
  })
})

test('a trial shows what there is, and takes nothing away from a source that runs', async () => {
  await using peer = await SsePeer.start()
  const { source, ports } = peer
  await using running = new FetchingSource({ connector: sse, source, ports })
  running.start()
  const allowed = new AllowedDestinations(ports.map((port) => ({ host: '127.0.0.1', port })))
  const dial = guardedDial(new EgressGuard({ allowed }))
  const trials = new SourceTrials({ connectors: [sse], dial, nowUs: () => Date.now() * 1_000 })
  const payloads = [1, 2, 3].map((number) =>
    Buffer.from(JSON.stringify({ number, timestamp: '2026-03-01T00:00:00Z' })),
  )
  await peer.publish(payloads)
  await expect.poll(() => running.entries().numbers).toEqual([1, 2, 3])
  const trial = await trials.try(source, newId<UserId>())
  expect(trial).toMatchObject({ isReached: true, problem: undefined })
  expect(trial.messages.map(({ payload }) => Buffer.from(payload))).toEqual(
    payloads.slice(0, trial.count),
  )
  expect(trial.count).toBeGreaterThan(0)
  await expect.poll(() => peer.listeners).toBe(1)
  await peer.publish(payloads)
  await expect.poll(() => running.entries().numbers).toEqual([1, 2, 3, 1, 2, 3])
})
