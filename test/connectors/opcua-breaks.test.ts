import { once } from 'node:events'
import type { Socket } from 'node:net'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ChunkCutter, hello, limits } from '../../connectors/opcua/frames.ts'
import { opcua } from '../../connectors/opcua/opcua.ts'
import { opcUaCredentials } from '../../scripts/servers/opcua.ts'
import { newId, type UserId } from '../../src/core/ids.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'
import { SourceTrials } from '../../src/streams/sources/source-trials.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { OpcUaTestServer } from '../support/opcua-server.ts'
import { flood, RudeServer } from '../support/rude-server.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const patience = { timeout: 60_000, interval: 20 }
const names = ['broken', 'tried', 'node'] as const

let server: OpcUaTestServer
let open: OpcUaTestServer

beforeAll(async () => {
  const variables = Object.fromEntries(names.map((name) => [name, 'Int32'] as const))
  server = await OpcUaTestServer.start({ variables })
  open = await OpcUaTestServer.start({ variables, user: undefined })
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await open[Symbol.asyncDispose]()
})

function sourceOf(port: number, changes: object = {}) {
  return {
    protocol: 'opcua',
    endpoint: `opc.tcp://127.0.0.1:${port}`,
    credentials: opcUaCredentials,
    items: { number: 'ns=1;s=broken' },
    samplingInterval: 0,
    publishingInterval: 50,
    queueSize: 5_000,
    ...changes,
  }
}

function fetching(port: number, changes: object = {}) {
  const source = sourceOf(port, changes)
  return new FetchingSource({ connector: opcua, source, ports: [port] })
}

async function running(source: FetchingSource) {
  source.start()
  await expect.poll(() => source.runner.status.state, patience).toBe('running')
}

/** A server may tell the last value before a break once more: with its time it is the same reading, which is stored once. */
function stored(source: FetchingSource): readonly number[] {
  const { numbers, timesUs } = source.entries()
  const keys = numbers.map((number, index) => `${number} ${timesUs[index]}`)
  return numbers.filter((_, index) => keys.indexOf(keys[index] as string) === index)
}

describe('a subscriber of OPC UA whose connection breaks', () => {
  test.each([
    ['goes on with its subscription', () => server, opcUaCredentials],
    ['goes on with its session, where nobody says who he is', () => open, undefined],
  ])('%s: nothing is lost, nothing doubled, nothing out of order', async (_, peer, credentials) => {
    await using proxy = await TcpProxy.start(peer().port)
    await using source = fetching(proxy.port, { credentials })
    await running(source)
    for (let number = 0; number < 600; number++) {
      await peer().set([{ name: 'broken', value: number }])
      if (number % 200 !== 100) continue
      proxy.reset()
      await expect.poll(() => source.runner.status.state, patience).not.toBe('running')
    }
    await expect.poll(() => stored(source).length, patience).toBeGreaterThanOrEqual(600)
    expect(stored(source)).toEqual(Array.from({ length: 600 }, (__, number) => number))
  })
})

test('a subscription that the server has forgotten is told of, each time once', async () => {
  const variables = { broken: 'Int32' } as const
  await using forgetful = await OpcUaTestServer.start({ variables })
  await using source = fetching(forgetful.port)
  await running(source)
  for (const times of [1, 2]) {
    await forgetful.set([{ name: 'broken', value: times }])
    await expect.poll(() => source.entries().numbers.at(-1), patience).toBe(times)
    await source.kill()
    await forgetful.stop('SIGKILL')
    await forgetful.start()
    await running(source)
    const told = source.entries().refused.map((hex) => Buffer.from(hex, 'hex').toString())
    expect(told).toEqual(
      Array.from({ length: times }, () => expect.stringMatching(/"lost":{"subscription":\d+,/)),
    )
  }
})

test('no more than five notifications are under way to a slow disk, and the server keeps the rest', async () => {
  const items = { number: 'ns=1;s=node' }
  await using source = fetching(server.port, { items })
  await running(source)
  // Somebody else shows what the server has sent by now to whoever asks for it.
  await using other = fetching(server.port, { items })
  await running(other)
  source.journal.hold()
  const numbers = Array.from({ length: 12 }, (_, number) => number)
  for (const value of numbers) {
    await server.set([{ name: 'node', value }])
    await expect.poll(() => other.entries().numbers.at(-1), patience).toBe(value)
    await expect
      .poll(() => source.runner.status.unacknowledged, patience)
      .toBe(Math.min(5, value + 1))
  }
  source.journal.release()
  await expect.poll(() => source.entries().numbers, patience).toEqual(numbers)
})

test('a trial shows what there is, and takes nothing away from a source that runs', async () => {
  const items = { number: 'ns=1;s=tried' }
  await using source = fetching(server.port, { items })
  await running(source)
  await server.set([{ name: 'tried', value: 1 }])
  await expect.poll(() => source.entries().numbers, patience).toEqual([1])
  const allowed = new AllowedDestinations([{ host: '127.0.0.1', port: server.port }])
  const dial = guardedDial(new EgressGuard({ allowed }))
  const trials = new SourceTrials({ connectors: [opcua], dial, nowUs: () => Date.now() * 1_000 })
  const trial = await trials.try(sourceOf(server.port, { items }), newId<UserId>())
  expect(trial).toMatchObject({ isReached: true, problem: undefined, count: 1 })
  await server.set([{ name: 'tried', value: 2 }])
  await expect.poll(() => source.entries().numbers, patience).toEqual([1, 2])
})

const acknowledge = Buffer.alloc(28)
acknowledge.write('ACKF', 'latin1')
for (const [index, number] of [28, 0, 65_536, 65_536, 0, 0].entries()) {
  acknowledge.writeUInt32LE(number, 4 + index * 4)
}

function chunk(kind: string, bytes: number, length = bytes): Buffer {
  const message = Buffer.alloc(bytes)
  message.write(kind, 'latin1')
  message.writeUInt32LE(length, 4)
  return message
}

describe('a server that is none', () => {
  const rude: readonly [string, (socket: Socket) => void][] = [
    ['speaks HTTP', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['sends a chunk without an end', (socket) => flood(socket, chunk('ACKF', 4_096, 2 ** 31))],
    [
      'sends a message without an end',
      (socket) => {
        socket.write(acknowledge)
        flood(socket, chunk('OPNC', 65_536))
      },
    ],
    [
      'answers what nobody asked',
      (socket) => {
        socket.write(acknowledge)
        flood(socket, chunk('MSGF', 1_024))
      },
    ],
    [
      'sends nonsense',
      (socket) => {
        socket.write(acknowledge)
        flood(socket, Buffer.concat([chunk('OPNF', 12, 60_000), Buffer.alloc(59_988, 0xff)]))
      },
    ],
    ['hangs up', (socket) => socket.destroy()],
    [
      'ends it with a reason',
      (socket) => socket.write(Buffer.concat([chunk('ERRF', 16), chunk('ERRF', 16)])),
    ],
  ]
  test.each(rude)('is given up: one that %s', async (_, speak) => {
    await using peer = await RudeServer.start(speak)
    await using source = fetching(peer.port)
    source.start()
    await expect.poll(() => source.runner.status.state, patience).toBe('failing')
    await source.runner.stop()
  })

  test('ends a run that is told to end although it says nothing', async () => {
    const heard = Promise.withResolvers<Socket>()
    await using peer = await RudeServer.start((socket) => heard.resolve(socket))
    await using source = fetching(peer.port)
    source.start()
    const socket = await heard.promise
    const closed = once(socket, 'close')
    await source.runner.stop()
    await closed
  })
})

test('chunks are the same however they arrive', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 8, max: 3_000 }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 5_000 }),
      (lengths, piece) => {
        const chunks = lengths.map((length) => chunk('MSGF', length))
        const bytes = Buffer.concat(chunks)
        const cutter = new ChunkCutter()
        const cut: Buffer[] = []
        for (let at = 0; at < bytes.length; at += piece) {
          cut.push(...cutter.push(bytes.subarray(at, at + piece)))
        }
        expect(cut).toEqual(chunks)
      },
    ),
  )
  expect(() => new ChunkCutter().push(chunk('MSGF', 8, limits.chunkBytesMax + 1))).toThrow('chunk')
  expect(hello('opc.tcp://a').readUInt32LE(4)).toBe(32 + 11)
})
