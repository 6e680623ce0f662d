import { afterAll, describe, expect, test } from 'vitest'
import { amqp } from '../../connectors/amqp/amqp.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { guardedDialTo } from '../support/guarded-dial-to.ts'
import { isRabbitmqMissing, Rabbitmq } from '../support/rabbitmq.ts'
import { RecordedRun } from '../support/recorded-run.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const patience = { timeout: 60_000, interval: 20 }
let started: Promise<Rabbitmq> | undefined

afterAll(async () => {
  await (await started)?.[Symbol.asyncDispose]()
})

async function server(): Promise<Rabbitmq> {
  started ??= Rabbitmq.start()
  return await started
}

/** A source of one queue, with the server that it is at. */
async function withQueue(
  type: 'classic' | 'quorum' | 'stream',
  more: Readonly<Record<string, unknown>> = {},
) {
  const rabbitmq = await server()
  const topic = await rabbitmq.newQueue(type)
  const { endpoint, credentials, port } = rabbitmq
  const source = { protocol: 'amqp', endpoint, credentials, topic, ...more }
  const publish = async (numbers: readonly number[], options = {}) => {
    const payloads = numbers.map((number) => Buffer.from(JSON.stringify({ number })))
    await rabbitmq.publish({ routingKey: topic }, payloads, options)
  }
  return { rabbitmq, topic, source, port, publish }
}

function fetching(source: Readonly<Record<string, unknown>>, port: number): FetchingSource {
  const made = new FetchingSource({ connector: amqp, source, ports: [port] })
  made.start()
  return made
}

async function isRunning(source: FetchingSource) {
  await expect.poll(() => source.runner.status, patience).toMatchObject({ state: 'running' })
}

/** Reads a queue whose connection breaks when what was published is durable and not acknowledged yet. */
async function readTwice(options: object) {
  const { source, port, publish } = await withQueue('classic')
  await using proxy = await TcpProxy.start(port)
  const endpoint = `amqp://127.0.0.1:${proxy.port}`
  await using reader = fetching({ ...source, endpoint }, proxy.port)
  await isRunning(reader)
  reader.journal.hold()
  await publish([7], options)
  await expect.poll(() => reader.runner.status.unacknowledged, patience).toBe(1)
  proxy.reset()
  await expect.poll(() => reader.runner.connections, patience).toBe(1)
  reader.journal.release()
  await expect.poll(() => reader.entries().numbers, patience).toEqual([7, 7])
  return reader.entries().timesUs
}

describe.skipIf(isRabbitmqMissing)('a queue of RabbitMQ', () => {
  test('says of which type an event is, and where a message comes from', async () => {
    const { source, port, publish, topic } = await withQueue('classic')
    await publish([1], { type: 'boiler.heated' })
    await publish([2])
    await using run = new RecordedRun(amqp.open({ streamId: newId<StreamId>(), source }), port)
    await expect.poll(() => run.messages.length, patience).toBe(2)
    const from = `amqp queue '${topic}' of 127.0.0.1:${port}, routing key '${topic}'`
    expect(run.messages).toMatchObject([{ eventType: 'boiler.heated', source: from }, {}])
    expect(run.messages[1]).not.toHaveProperty('eventType')
  })

  test('gives a message with an id its time again when it delivers it again', async () => {
    const [first, second] = await readTwice({ messageId: 'm-1' })
    expect(second).toBe(first)
  })

  test('makes two readings of a message without id and time, rather than lose one', async () => {
    const [first = 0, second] = await readTwice({})
    expect(second).toBeGreaterThan(first)
  })

  test('keeps the beginning of a message that is too large, and goes on', async () => {
    const { rabbitmq, source, port, publish, topic } = await withQueue('classic')
    const large = Buffer.alloc(5 * 1024 * 1024, 'x')
    await rabbitmq.publish({ routingKey: topic }, [large])
    await publish([1])
    await using reader = fetching(source, port)
    await expect.poll(() => reader.entries().numbers, patience).toEqual([1])
    expect(reader.entries().refused).toEqual([large.subarray(0, 65_536).toString('hex')])
  })

  test('gives no more than the prefetch, and all in the end', async () => {
    const { source, port, publish } = await withQueue('quorum', { prefetch: 5 })
    const numbers = Array.from({ length: 50 }, (_, index) => index)
    await publish(numbers)
    await using reader = fetching(source, port)
    reader.journal.hold()
    await expect.poll(() => reader.runner.status.unacknowledged, patience).toBe(5)
    reader.journal.release()
    await expect.poll(() => reader.entries().numbers, patience).toEqual(numbers)
  })

  test('keeps large messages back while those before are not durable', async () => {
    const { rabbitmq, source, port, topic } = await withQueue('classic')
    const payload = Buffer.alloc(1024 * 1024, 'x')
    await rabbitmq.publish({ routingKey: topic }, Array(12).fill(payload))
    await using reader = fetching(source, port)
    reader.journal.hold()
    await expect.poll(() => reader.runner.status.unacknowledged, patience).toBeGreaterThan(2)
    expect(reader.runner.status.unacknowledged).toBeLessThan(6)
    reader.journal.release()
    await expect.poll(() => reader.entries().refused.length, patience).toBe(12)
  })

  test('is missed when it is deleted', async () => {
    const { rabbitmq, source, port, topic } = await withQueue('classic')
    await using reader = fetching(source, port)
    await isRunning(reader)
    await (await rabbitmq.channel()).deleteQueue(topic)
    await expect
      .poll(() => reader.runner.status.lastError, patience)
      .toMatch(/something is missing on the server: NOT_FOUND - no queue/)
    expect(reader.runner.status.isLasting).toBe(true)
  })
})

describe.skipIf(isRabbitmqMissing)('an exchange of RabbitMQ', () => {
  test('collects for a stream that is away, and forgets it when it is gone', async () => {
    const rabbitmq = await server()
    const exchange = rabbitmq.newName()
    await (await rabbitmq.channel()).assertExchange(exchange, 'topic')
    const { endpoint, credentials, port } = rabbitmq
    const bindings = [{ routingKey: 'boiler.*' }, { routingKey: '*.hot' }]
    const source = { protocol: 'amqp', endpoint, credentials, exchange, bindings }
    const publish = async (number: number, routingKey: string) => {
      await rabbitmq.publish({ exchange, routingKey }, [Buffer.from(JSON.stringify({ number }))])
    }
    await using reader = fetching(source, port)
    await isRunning(reader)
    await publish(1, 'boiler.cold')
    await publish(2, 'pump.cold')
    await expect.poll(() => reader.entries().numbers, patience).toEqual([1])
    await reader.runner.stop()
    await publish(3, 'pump.hot')
    reader.start()
    await expect.poll(() => reader.entries().numbers, patience).toEqual([1, 3])
    await reader.runner.stop()

    const { streamId } = reader
    expect(await rabbitmq.has(`streamvault-${streamId}`)).toBe(true)
    const run = { dial: guardedDialTo(port), signal: AbortSignal.timeout(60_000) }
    await amqp.open({ streamId, source }).release?.(run)
    expect(await rabbitmq.has(`streamvault-${streamId}`)).toBe(false)
  })

  test('keeps a named queue that somebody else consumes, and passes on by headers', async () => {
    const rabbitmq = await server()
    const [exchange, group] = [rabbitmq.newName(), rabbitmq.newName()]
    await (await rabbitmq.channel()).assertExchange(exchange, 'headers')
    const { endpoint, credentials, port } = rabbitmq
    const bindings = [{ arguments: { 'x-match': 'all', floor: 7 } }]
    const source = { protocol: 'amqp', endpoint, credentials, exchange, bindings, group }
    await using reader = fetching(source, port)
    await isRunning(reader)
    for (const floor of [6, 7]) {
      const payload = Buffer.from(JSON.stringify({ number: floor }))
      await rabbitmq.publish({ exchange, routingKey: '' }, [payload], { headers: { floor } })
    }
    await expect.poll(() => reader.entries().numbers, patience).toEqual([7])

    const other = amqp.open({ streamId: newId<StreamId>(), source })
    const run = { dial: guardedDialTo(port), signal: AbortSignal.timeout(60_000) }
    await other.release?.(run)
    expect(await rabbitmq.has(group)).toBe(true)
    await reader.runner.stop()
    await other.release?.(run)
    expect(await rabbitmq.has(group)).toBe(false)
  })
})

describe.skipIf(isRabbitmqMissing)('a stream of RabbitMQ', () => {
  test('is not taken for a queue, nor a queue for a stream', async () => {
    const stream = await withQueue('stream')
    await using asQueue = fetching(stream.source, stream.port)
    await isRunning(asQueue)
    await stream.publish([1])
    await expect
      .poll(() => asQueue.runner.status.lastError, patience)
      .toMatch(/the queue is a stream: the source has to say so/)
    expect(asQueue.entries().numbers).toEqual([])

    const queue = await withQueue('classic', { queueType: 'stream' })
    await queue.publish([1])
    await using asStream = fetching(queue.source, queue.port)
    await expect
      .poll(() => asStream.runner.status.lastError, patience)
      .toMatch(/no stream|x-stream-offset/)
    // It goes back when the server has seen the connection end.
    await expect
      .poll(() => queue.rabbitmq.count(queue.topic), patience)
      .toMatchObject({ messageCount: 1 })
  })

  test('is known again, or not gone on with', async () => {
    const { rabbitmq, source, port, publish, topic } = await withQueue('stream', {
      queueType: 'stream',
    })
    await using reader = fetching(source, port)
    await publish([1, 2])
    await expect.poll(() => reader.entries().numbers, patience).toEqual([1, 2])
    await reader.runner.stop()
    const channel = await rabbitmq.channel()
    await channel.deleteQueue(topic)
    const made = { durable: true, arguments: { 'x-queue-type': 'stream' } }
    await channel.assertQueue(topic, made)
    await publish([3, 4, 5])
    reader.start()
    await expect
      .poll(() => reader.runner.status.lastError, patience)
      .toMatch(/message 1 of the stream is not the one that was read/)
    expect(reader.entries().numbers).toEqual([1, 2])
  })
})
