import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { webSocket } from '../../connectors/web-events/web-socket.ts'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { makeCertificate } from '../support/certificate.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { MessageServer } from '../support/message-server.ts'
import { RecordedRun } from '../support/recorded-run.ts'
import { flood, RudeServer } from '../support/rude-server.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { standStill } from '../support/thread-stall.ts'

const folder = new TemporaryFolder()
const made = makeCertificate(folder.path, 'server', 'DNS:plant.example')
const certificate = { cert: made.authority, key: readFileSync(made.keyPath, 'utf8') }

afterAll(() => folder[Symbol.dispose]())

function follow(port: number, more: object = {}): RecordedRun {
  const source = { protocol: 'websocket', endpoint: `ws://127.0.0.1:${port}/`, ...more }
  return new RecordedRun(webSocket.open({ streamId: newId<StreamId>(), source }), port)
}

/** Agrees to a WebSocket: RFC 6455, section 4.2.2. */
function agree(socket: Socket, said: Buffer): void {
  const key = /sec-websocket-key: (.*)\r\n/i.exec(said.toString())?.[1]
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
  const lines = ['HTTP/1.1 101 Now', 'upgrade: websocket', 'connection: upgrade']
  socket.write([...lines, `sec-websocket-accept: ${accept.digest('base64')}`, '', ''].join('\r\n'))
}

/** Why a run ends whose server sends this when it has agreed. */
async function endOf(speak: (socket: Socket) => void, more: object = {}): Promise<Error> {
  await using server = await RudeServer.start((socket, said) => {
    agree(socket, said)
    speak(socket)
  })
  await using run = follow(server.port, more)
  return (await run.ended) as Error
}

/** The head of a frame that is longer than 65,535 bytes: RFC 6455, section 5.2. */
function longHead(first: number, length: bigint): Buffer {
  const head = Buffer.alloc(10)
  head[0] = first
  head[1] = 127
  head.writeBigUInt64BE(length, 2)
  return head
}

const whole = { text: 0x81, binary: 0x82, ping: 0x89 } as const
const begun = { text: 0x01, next: 0x00 } as const

describe('a server that does not mean well', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['a message of 5 MiB', (socket) => socket.write(longHead(whole.binary, 5n * 1024n ** 2n))],
    ['a message of 2^53 bytes', (socket) => socket.write(longHead(whole.binary, 2n ** 53n - 1n))],
    [
      'a message without an end',
      (socket) => {
        const part = Buffer.concat([longHead(begun.next, 70_000n), Buffer.alloc(70_000)])
        socket.write(Buffer.of(begun.text, 0))
        flood(socket, part)
      },
    ],
    [
      'a message of nothing without an end',
      (socket) => {
        socket.write(Buffer.of(begun.text, 0))
        flood(socket, Buffer.alloc(10_000))
      },
    ],
  ])('cannot send %s', async (_, speak) => {
    const end = await endOf(speak)
    expect(end).toBeInstanceOf(SourceRefused)
    expect(end.message).toContain('a message is larger than 4 MiB')
  })

  test.each<[string, Buffer]>([
    ['a frame of no kind', Buffer.of(0x83, 0)],
    ['a frame that says it is compressed', Buffer.of(0xc1, 0)],
    ['a masked frame', Buffer.of(0x81, 0x81, 0, 0, 0, 0, 0x31)],
    ['a text that is no UTF-8', Buffer.of(0x81, 1, 0xff)],
    ['a next part of nothing', Buffer.of(0x80, 0)],
    ['a ping in parts', Buffer.of(0x09, 0)],
  ])('cannot send %s', async (_, frame) => {
    expect((await endOf((socket) => socket.write(frame))).message).toContain('no WebSocket')
  })

  test.each<[string, string]>([
    ['no HTTP', 'no HTTP\r\n\r\n'],
    ['no key of ours', 'HTTP/1.1 101 A\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'],
    ['another protocol', 'HTTP/1.1 101 A\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n'],
    ['nothing', ''],
  ])('cannot agree with %s', async (_, text) => {
    await using server = await RudeServer.start((socket) => socket.end(text))
    await using run = follow(server.port)
    expect(await run.ended).toBeInstanceOf(Error)
    expect(run.isRunning).toBe(false)
  })

  test('is left at once when a run is told to end before there is an answer', async () => {
    const asked = Promise.withResolvers<void>()
    await using server = await RudeServer.start(() => asked.resolve())
    const run = follow(server.port)
    await asked.promise
    await run[Symbol.asyncDispose]()
    expect(await run.ended).toBeUndefined()
  })

  test.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => undefined],
    ['stops within a frame', (socket) => socket.write(Buffer.of(whole.text, 5, 0x31))],
    ['does not read', (socket) => socket.pause()],
  ])('is left when it %s and does not answer a ping', async (_, speak) => {
    const end = await endOf(speak, { heartbeat: '1s' })
    expect(end.message).toBe('the server has not answered a ping within 1 s')
  })

  test('floods us with pings in vain', async () => {
    const end = await endOf((socket) => {
      socket.pause()
      flood(socket, Buffer.of(whole.ping, 0))
    })
    expect(end.message).toContain('closed the connection')
  })

  test('is not taken for dead while it answers pings', async () => {
    await using server = await MessageServer.start(() => undefined)
    await using run = follow(server.port, { heartbeat: '1s' })
    await expect(Promise.race([run.ended, sleep(2_500, 'there')])).resolves.toBe('there')
  })

  test('is not taken for dead when its answers came while nobody could read them', async () => {
    let pings = 0
    await using server = await MessageServer.start((socket) => {
      // It has answered before it says so.
      socket.on('ping', () => {
        if (++pings === 1) standStill(1_500)
        if (pings === 3) socket.send('1')
      })
    })
    await using run = follow(server.port, { heartbeat: '1s' })
    await expect.poll(() => run.rows).toEqual(['1'])
  })
})

test('a server is not read any further while the disk stands still, and not taken for dead', async () => {
  const message = `{"number":1,"more":"${'a'.repeat(10_000)}"}`
  let written = 0
  await using server = await MessageServer.start((socket) => {
    const timer = setInterval(() => {
      if (socket.bufferedAmount > 1_000_000) return
      socket.send(message)
      written++
    })
    for (let count = 0; count < 2_000; count++) socket.send(message)
    socket.on('close', () => clearInterval(timer))
  })
  const { port } = server
  const source = { protocol: 'websocket', endpoint: `ws://127.0.0.1:${port}/`, heartbeat: '1s' }
  await using fetching = new FetchingSource({ connector: webSocket, source, ports: [port] })
  fetching.start()
  fetching.journal.hold()
  await expect.poll(() => fetching.runner.status.unacknowledged).toBeGreaterThan(400)
  await sleep(2_500)
  expect(fetching.runner.status.unacknowledged).toBeLessThan(500)
  const before = written
  await sleep(300)
  expect(written).toBe(before)
  fetching.journal.release()
  await expect.poll(() => fetching.runner.status.messages).toBeGreaterThan(2_000)
  await expect.poll(() => written).toBeGreaterThan(before)
  expect(fetching.runner.status).toMatchObject({ state: 'running', lastError: undefined })
})

test('what has come is waited for when the connection ends', async () => {
  const closed = Promise.withResolvers<void>()
  await using server = await MessageServer.start((socket) => {
    socket.on('close', () => closed.resolve())
    socket.send('{"number":1,"timestamp":"2026-03-01T00:00:00Z"}')
    socket.close()
  })
  const { port } = server
  const source = { protocol: 'websocket', endpoint: `ws://127.0.0.1:${port}/` }
  await using fetching = new FetchingSource({ connector: webSocket, source, ports: [port] })
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

function followSecurely(port: number, tls: object): RecordedRun {
  return follow(port, { endpoint: `wss://127.0.0.1:${port}/`, tls })
}

describe('over TLS', () => {
  test('messages come from a server that has the name which is expected', async () => {
    await using server = await MessageServer.start((socket) => socket.send('1'), certificate)
    const tls = { ca: made.authority, servername: 'plant.example' }
    await using run = followSecurely(server.port, tls)
    await expect.poll(() => run.rows).toEqual(['1'])
  })

  test.each<[string, object]>([
    ['nobody trusts', { servername: 'plant.example' }],
    ['has another name', { ca: made.authority, servername: 'other.example' }],
  ])('none come from one that %s', async (_, tls) => {
    await using server = await MessageServer.start((socket) => socket.send('1'), certificate)
    await using run = followSecurely(server.port, tls)
    expect(String(await run.ended)).toMatch(/self-signed|altnames/)
    expect(server.visits).toEqual([])
  })
})
