import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Writer } from '@platformatic/kafka'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { kafka } from '../../connectors/kafka/kafka.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { RecordedRun } from '../support/recorded-run.ts'

const closings: (() => void)[] = []

afterEach(() => {
  vi.useRealTimers()
  for (const close of closings.splice(0)) close()
})

/** What is said to everything that is asked. */
async function runAgainst(answer: (socket: Socket, request: Buffer) => void, more: object = {}) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (request) => answer(socket, request))
    closings.push(() => socket.destroy())
  }).listen(0, '127.0.0.1')
  closings.push(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const source = { protocol: 'kafka', endpoint: `kafka://127.0.0.1:${port}`, topic: 'a', ...more }
  return new RecordedRun(kafka.open({ streamId: newId<StreamId>(), source }), port)
}

/** An answer to a request with its number, in a frame. */
function frame(request: Buffer, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat([request.subarray(8, 12), ...parts])
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.byteLength)
  return Buffer.concat([length, body])
}

type Versions = readonly [key: number, min: number, max: number]

const callsToLogIn: readonly Versions[] = [
  [17, 1, 1],
  [36, 2, 2],
]

const callsToFetch: readonly Versions[] = [
  [1, 13, 13],
  [3, 12, 12],
]

/** What a broker knows. */
function versions(request: Buffer, keys: readonly Versions[] = callsToLogIn): Buffer {
  const writer = Writer.create()
  writer.appendInt16(0)
  writer.appendArray([...keys], (inner, [key, min, max]) => {
    inner.appendInt16(key).appendInt16(min).appendInt16(max)
  })
  writer.appendInt32(0).appendTaggedFields()
  return frame(request, writer.buffer)
}

const keyOf = (request: Buffer) => request.readInt16BE(4)

describe('what answers instead of a broker of Kafka', () => {
  test.each<[string, (socket: Socket, request: Buffer) => void, RegExp]>([
    [
      'a server of the web',
      (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
      /is it Kafka/,
    ],
    [
      'a frame of no end',
      (socket) => socket.write(Buffer.from('7fffffff00', 'hex')),
      /is it Kafka/,
    ],
    [
      'a frame of less than nothing',
      (socket) => socket.write(Buffer.from('ffffffff', 'hex')),
      /is it Kafka/,
    ],
    [
      'an answer to nobody',
      (socket) => socket.write(Buffer.from('0000000400000063', 'hex')),
      /a request that was not made/,
    ],
    ['half an answer', (socket, request) => socket.end(frame(request).subarray(0, 6)), /closed/],
    ['an answer of nothing', (socket, request) => socket.write(frame(request)), /Error/],
    [
      'a broker that lacks what is needed',
      (socket, request) => socket.write(versions(request)),
      /too old, or too new/,
    ],
  ])('is found out: %s', async (_, answer, reason) => {
    const run = await runAgainst(answer)
    const failure = await run.ended
    expect(failure).toBeInstanceOf(Error)
    expect(String(failure)).toMatch(reason)
  })

  test('is given up when it is silent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const asked = Promise.withResolvers<void>()
    const run = await runAgainst(() => asked.resolve())
    await asked.promise
    await vi.advanceTimersByTimeAsync(31_000)
    expect(String(await run.ended)).toMatch(/does not answer/)
  })

  test.each([
    ['too many rounds', (nonce: string) => `r=${nonce}more,s=c2FsdA==,i=2000000000`],
    ['too few rounds', (nonce: string) => `r=${nonce}more,s=c2FsdA==,i=1`],
    ['no proof', () => 'nonsense'],
    ['a nonce of its own', () => 'r=other,s=c2FsdA==,i=4096'],
  ])('that wants a password hashed in %s gets nothing', async (_, challengeOf) => {
    const credentials = {
      type: 'scram-sha-256',
      username: 'plant',
      password: 'hunter2-of-the-test',
    }
    const heard: Buffer[] = []
    const answer = (socket: Socket, request: Buffer) => {
      heard.push(request)
      if (keyOf(request) === 18) socket.write(versions(request))
      else if (keyOf(request) === 17) {
        const writer = Writer.create().appendInt16(0)
        writer.appendArray(
          ['SCRAM-SHA-256'],
          (inner, name) => inner.appendString(name, false),
          false,
          false,
        )
        socket.write(frame(request, writer.buffer))
      } else {
        const nonce = /r=([\w-]+)/.exec(request.toString('latin1'))?.[1] ?? ''
        const writer = Writer.create().appendInt16(0).appendString(null)
        writer
          .appendBytes(Buffer.from(challengeOf(nonce)))
          .appendInt64(0n)
          .appendTaggedFields()
        socket.write(frame(request, Buffer.from([0]), writer.buffer))
      }
    }
    const run = await runAgainst(answer, { credentials })
    const failure = await run.ended
    expect(failure).toBeInstanceOf(Error)
    expect(String(failure)).not.toMatch(/of-the-test/)
    expect(heard.filter((one) => keyOf(one) === 36)).toHaveLength(1)
  })

  test('is given up when it has more partitions than anybody can read', async () => {
    const run = await runAgainst((socket, request) => {
      if (keyOf(request) === 18) socket.write(versions(request, callsToFetch))
      else socket.write(frame(request, Buffer.from([0]), topicOf({ index: 1_000_000 })))
    })
    expect(String(await run.ended)).toMatch(/partition 1000000/)
  })
})

/** Facts of the topic `a` (Metadata, version 12): one partition, whose number is what it is. */
function topicOf({ index }: { readonly index: number }): Buffer {
  const writer = Writer.create().appendInt32(0)
  writer.appendArray([], () => undefined)
  writer.appendString(null).appendInt32(-1)
  writer.appendArray(['a'], (topic, name) => {
    topic.appendInt16(0).appendString(name).appendUUID(null).appendBoolean(false)
    topic.appendArray([index], (partition) => {
      partition.appendInt16(0).appendInt32(index).appendInt32(1).appendInt32(0)
      for (let list = 0; list < 3; list++) partition.appendArray([], () => undefined)
    })
    topic.appendInt32(0)
  })
  return writer.appendTaggedFields().buffer
}
