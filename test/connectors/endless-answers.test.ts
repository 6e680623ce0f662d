import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { coap } from '../../connectors/coap/coap.ts'
import { blockOf } from '../../connectors/coap/options.ts'
import type { Dialect, Row } from '../../connectors/database/dialect.ts'
import { databaseOptions } from '../../connectors/database/options.ts'
import { PolledDatabase } from '../../connectors/database/polled-database.ts'
import type { Cluster } from '../../connectors/kafka/cluster.ts'
import { Delivery } from '../../connectors/kafka/delivery.ts'
import { fetchAll } from '../../connectors/kafka/fetch-loop.ts'
import { ReadPositions } from '../../connectors/kafka/read-positions.ts'
import { redisStream } from '../../connectors/redis-stream/redis-stream.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { fails, follower } from '../support/nats-source.ts'
import { numberOption, RawCoapDevice } from '../support/raw-coap-device.ts'
import { RecordedRun } from '../support/recorded-run.ts'
import { ScriptedNats } from '../support/scripted-nats.ts'

/** Requests of one try: what answers for ever is given up long before. */
const requestsMax = 200

const closings: (() => void)[] = []

afterEach(() => {
  for (const close of closings.splice(0)) close()
})

const streamId = newId<StreamId>()

describe('a broker of Kafka that answers each fetch at once', () => {
  const topic = { name: 'a', id: 'a', leaders: [1] }
  const partition = { topic: 'a', index: 0 }
  const outOfRange = { partitionIndex: 0, errorCode: 1, records: [] }

  test.each<[string, object]>([
    ['with nothing', { responses: [] }],
    [
      'with another topic',
      { responses: [{ topicId: 'b', partitions: [{ partitionIndex: 0, errorCode: 0 }] }] },
    ],
    [
      'with what was read before',
      {
        responses: [
          {
            topicId: 'a',
            partitions: [{ partitionIndex: 0, errorCode: 0, records: [batchAt(3)] }],
          },
        ],
      },
    ],
    [
      'with an offset that it says it has',
      { responses: [{ topicId: 'a', partitions: [outOfRange] }] },
    ],
  ])('%s, and for ever, is given up', async (_, answer) => {
    let requests = 0
    const connection = {
      call: async () => {
        requests++
        return await turn({ errorCode: 0, ...answer })
      },
    }
    const cluster = {
      connection: async () => await turn(connection),
      call: async () => {
        requests++
        const partitions = [{ partitionIndex: 0, offset: 5n }]
        return await turn({ topics: [{ name: 'a', partitions }] })
      },
    } as unknown as Cluster
    const { signal } = new AbortController()
    const run = { accept: async () => await turn([]) }
    const positions = ReadPositions.read(undefined, [])
    const delivery = new Delivery({ run, group: undefined, positions })
    const options = { hasEventTypes: false, isMapped: false }
    const needs = { cluster, topics: [topic], delivery, options, signal }
    await expect(fetchAll(needs, new Map([[partition, 5]]))).rejects.toThrow('nothing new to say')
    expect(requests).toBeLessThan(requestsMax)
  })
})

/** A batch of one record. */
function batchAt(offset: number) {
  const record = { offsetDelta: 0, value: Buffer.from('{}'), headers: [] }
  return {
    firstOffset: BigInt(offset),
    lastOffsetDelta: 0,
    attributes: 0,
    producerId: -1n,
    records: [record],
  }
}

/** As a network does: others have their turn. */
async function turn<Value>(value: Value): Promise<Value> {
  return await new Promise((resolve) => {
    setImmediate(() => resolve(value))
  })
}

type Reply = string | null | readonly Reply[]

function redisText(reply: Reply): string {
  if (reply === null) return '*-1\r\n'
  if (typeof reply === 'string') return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`
  return `*${reply.length}\r\n${reply.map((one) => redisText(one)).join('')}`
}

const entry = (id: string): Reply => [id, ['number', '1']]
const ofStream = (...ids: readonly string[]): Reply => [['a', ids.map((id) => entry(id))]]

interface RedisScript {
  /** What new entries are asked for with. */
  readonly fresh: () => Reply
  /** What entries are asked for with that are pending. */
  readonly pending?: (consumer: string) => Reply
  readonly claimed?: () => Reply
}

/** A server of Redis with a stream `a`, which was read up to `5-0`. */
async function redisWith({ fresh, pending, claimed }: RedisScript, more: object) {
  let requests = 0
  const answerTo = (words: readonly string[]): Reply => {
    const [command = '', which] = words
    if (command === 'XINFO' && which === 'STREAM') return ['last-generated-id', '9-0']
    if (command === 'XINFO') return [['name', 'vault']]
    if (command === 'XAUTOCLAIM') return claimed?.() ?? ['0-0', [], []]
    if (command === 'XREADGROUP' && words.at(-1) !== '>') return pending?.(words[3] ?? '') ?? null
    return command.startsWith('XREAD') ? fresh() : 'OK'
  }
  const server = createServer((socket: Socket) => {
    closings.push(() => socket.destroy())
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      for (const request of bytes.toString().split(/(?=\*\d+\r\n\$)/)) {
        requests++
        const words = request.split('\r\n').filter((_, at) => at > 0 && at % 2 === 0)
        socket.write(redisText(answerTo(words)))
      }
    })
  }).listen(0, '127.0.0.1')
  closings.push(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const source = { protocol: 'redis', endpoint: `redis://127.0.0.1:${port}`, topic: 'a', ...more }
  const run = new RecordedRun(redisStream.open({ streamId, source }), port, { id: '5-0' })
  const failure = await run.ended
  return { failure: String(failure), requests }
}

describe('a server of Redis that is asked for what comes behind an entry, and', () => {
  const group = { group: 'vault' }
  test.each<[string, RedisScript, object, RegExp]>([
    ['has nothing, at once and for ever', { fresh: () => null }, {}, /nothing new/],
    ['has what is before it, for ever', { fresh: () => ofStream('3-0', '4-0') }, {}, /nothing new/],
    ['gives a group what it had, for ever', { fresh: () => ofStream('4-0') }, group, /nothing new/],
    [
      'has one page pending for ever',
      { fresh: () => null, pending: () => ofStream('6-0', '7-0') },
      group,
      /what comes behind 7-0/,
    ],
    [
      'has entries to be taken over behind one place for ever',
      { fresh: () => null, claimed: () => ['8-0', [], []] },
      group,
      /what comes behind 8-0/,
    ],
  ])('%s, is given up', async (_, script, more, reason) => {
    const { failure, requests } = await redisWith(script, more)
    expect(failure).toMatch(reason)
    expect(requests).toBeLessThan(requestsMax)
  })
})

describe('a server of NATS that', () => {
  test.each(['404 No Messages', '408 Request Timeout', '409 Batch Completed'])(
    'ends each request at once (%s), is given up, and asked again later',
    async (status) => {
      await using server = await ScriptedNats.start()
      let requests = 0
      server.answer = ({ socket, inbox, subscription }) => {
        requests++
        const head = `NATS/1.0 ${status}\r\n\r\n`
        socket.write(`HMSG ${inbox} ${subscription} ${head.length} ${head.length}\r\n${head}\r\n`)
      }
      await using source = follower(server, { topic: 'plant.>' })
      source.start()
      await fails(source, /nothing new to say/)
      expect(requests).toBeLessThan(requestsMax)
    },
  )

  test('sends one message for ever, is given up', async () => {
    await using server = await ScriptedNats.start()
    let delivery = 0
    server.answer = ({ socket, subscription }) => {
      const text = '{"number": 1, "timestamp": "2026-03-01T00:00:00Z"}'
      const messages = Array.from({ length: 500 }, () => {
        const reply = `$JS.ACK.PLANT.one.1.1.${++delivery}.1700000000000000000.0`
        return `MSG plant.a ${subscription} ${reply} ${text.length}\r\n${text}\r\n`
      })
      socket.write(messages.join(''))
    }
    await using source = follower(server, { topic: 'plant.>' })
    source.start()
    await fails(source, /the same messages again and again/)
  })
})

describe('a device that speaks CoAP', () => {
  test('and has another state each time that the rest of it is asked for, is given up', async () => {
    let state = 0
    const device = await RawCoapDevice.start((request, own) => {
      const { messageId, token } = request
      const number = blockOf(request)?.number ?? 0
      const block = Buffer.from([(number << 4) | 8])
      own.send({
        code: '2.05',
        ack: true,
        messageId,
        token,
        options: [
          ...(number === 0 ? [numberOption('Observe', ++state)] : []),
          { name: 'ETag', value: Buffer.from(`${number === 0 ? state : -state}`) },
          { name: 'Block2', value: block },
        ],
        payload: Buffer.alloc(16, 'x'),
      })
    })
    await using _ = device
    const run = new RecordedRun(coap.open({ streamId, source: device.source }), device.port)
    expect(String(await run.ended)).toMatch(/changes while it is read/)
    expect(device.heard.length).toBeLessThan(requestsMax)
  })
})

interface Asked {
  readonly at: string
  readonly count: number
  readonly request: number
}

const column = (name: string) => ({ name, kind: 'number' as const, json: String })

/** A database whose rows have a number and a text, and are what a test says. */
function databaseWith(rowsAt: (asked: Asked) => readonly Row[], more: object) {
  let requests = 0
  const columns = [column('number'), column('id')]
  const dialect: Dialect = {
    quoted: (name) => name,
    placeholder: (index) => `$${index}`,
    limited: (rest, count) => `${count} ${rest}`,
    comparesPairs: true,
    connect: async () => ({
      describe: async () => await turn(columns),
      read: async (statement, values) => {
        const request = requests++
        const at = values.map(({ text }) => text).join(' ')
        return await turn({
          columns,
          rows: rowsAt({ at, count: Number.parseInt(statement, 10), request }),
        })
      },
      nowUs: async () => await turn(0),
      [Symbol.asyncDispose]: async () => undefined,
    }),
  }
  const options = databaseOptions({
    protocol: 'postgres',
    endpoint: '127.0.0.1:1/plant',
    query: 'SELECT 1',
    pageSize: 10,
    ...more,
  })
  return { source: new PolledDatabase(async () => dialect, options), requests: () => requests }
}

/** Rows that count on from a number. */
function rowsFrom(first: number, count: number): readonly Row[] {
  return Array.from({ length: count }, (_, index) => [String(first + index), String(first + index)])
}

async function polled(source: PolledDatabase): Promise<number> {
  let messages = 0
  const { signal } = new AbortController()
  const poll = { position: undefined, signal, nowUs: () => 0 }
  for await (const page of source.poll(poll as unknown as Parameters<typeof source.poll>[0])) {
    messages += page.messages.length
  }
  return messages
}

describe('a database that is asked for the rows behind a place, and', () => {
  const byNumber = { incrementalColumn: 'number', lookBehind: 5, keyColumn: 'id' }
  test.each<[string, (asked: Asked) => readonly Row[], object]>([
    ['has the same page for ever', ({ count }) => rowsFrom(1, count), byNumber],
    [
      'has three pages by turns for ever',
      ({ count, request }) => rowsFrom(1 + 100 * (request % 3), count),
      byNumber,
    ],
    [
      'has the same page for ever, of all rows',
      ({ count }) => rowsFrom(1, count),
      { keyColumn: 'id' },
    ],
    [
      'has the same row for ever',
      ({ count }) => Array.from({ length: count }, () => ['1', '1']),
      { incrementalColumn: 'number', lookBehind: 5 },
    ],
  ])('%s, is refused', async (_, rowsAt, more) => {
    const { source, requests } = databaseWith(rowsAt, more)
    await expect(polled(source)).rejects.toMatchObject({ name: 'SourceRefused' })
    expect(requests()).toBeLessThan(requestsMax)
  })

  test('has more rows that are the same than a page holds, is read on behind them', async () => {
    const same: readonly Row[] = Array.from({ length: 5_000 }, () => ['1', '1'])
    const rows = [...same, ...rowsFrom(2, 30)]
    const { source } = databaseWith(
      ({ at, count }) => rows.filter(([number]) => Number(number) > Number(at)).slice(0, count),
      { incrementalColumn: 'number', lookBehind: 5 },
    )
    expect(await polled(source)).toBeGreaterThan(0)
  })
})
