import { setTimeout as sleep } from 'node:timers/promises'
import { Producer } from '@platformatic/kafka'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kafka } from '../../connectors/kafka/kafka.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'
import { SourceTrials } from '../../src/streams/sources/source-trials.ts'
import { isKafkaMissing, Kafka } from '../support/kafka.ts'
import { numbered, numbersFrom, readerOf } from '../support/read-topic.ts'
import { RecordedRun } from '../support/recorded-run.ts'

const patience = { timeout: 60_000, interval: 20 }

async function running(source: ReturnType<typeof readerOf>) {
  source.start()
  await expect.poll(() => source.runner.status.state, patience).toBe('running')
}

describe.skipIf(isKafkaMissing)('messages of Kafka', () => {
  let server: Kafka
  beforeAll(async () => {
    server = await Kafka.start()
  })
  afterAll(async () => await server[Symbol.asyncDispose]())

  async function produce(topic: string, first: number, count: number, partition = 0) {
    const messages = numbersFrom(first, count).map((n) => ({ value: numbered(n), partition }))
    await server.produce(topic, messages)
  }

  test.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)('are read compressed: %s', async (how) => {
    const topic = await server.newTopic()
    const messages = numbersFrom(0, 300).map((n) => ({ value: numbered(n) }))
    await server.produce(topic, messages, { compression: how, perBatch: 100 })
    await using source = readerOf(server, topic)
    source.start()
    await expect.poll(() => source.entries().numbers, patience).toEqual(numbersFrom(0, 300))
  })

  test('are left out where they say that a key is deleted, or where their transaction was given up', async () => {
    const topic = await server.newTopic()
    const producer = new Producer({
      ...server.clientOptions,
      transactionalId: 'given-up',
      idempotent: true,
    })
    for (const [number, end] of [
      [0, 'commit'],
      [1, 'abort'],
      [2, 'commit'],
      [3, 'abort'],
    ] as const) {
      const transaction = await producer.beginTransaction()
      await transaction.send({ messages: [{ topic, partition: 0, value: numbered(number) }] })
      await (end === 'commit' ? transaction.commit() : transaction.abort())
    }
    await producer.close()
    await server.produce(topic, [
      { key: 'pump', value: null },
      { key: 'pump', value: numbered(4) },
    ])
    await using source = readerOf(server, topic)
    source.start()
    await expect.poll(() => source.entries().numbers, patience).toEqual([0, 2, 4])
    expect(source.entries().refused).toEqual([])
  })

  test('say in a header what an event is, where types of events are wanted', async () => {
    const topic = await server.newTopic()
    await server.produce(topic, [
      { value: numbered(0), headers: { ce_type: 'opened', eventType: 'closed' } },
      { value: numbered(1), headers: { eventType: 'closed' } },
      { value: numbered(2) },
    ])
    for (const [more, types] of [
      [{ eventTypes: { opened: {} } }, ['opened', 'closed', undefined]],
      [{}, [undefined, undefined, undefined]],
    ] as const) {
      const source = { protocol: 'kafka', endpoint: server.endpoint, topic, ...more }
      const opened = kafka.open({ streamId: newId<StreamId>(), source })
      await using run = new RecordedRun(opened, server.port)
      await expect.poll(() => run.messages.length, patience).toBe(3)
      expect(run.messages.map(({ eventType }) => eventType)).toEqual(types)
    }
  })

  test('larger than what is asked for at once come all the same', async () => {
    const topic = await server.newTopic(1, { 'max.message.bytes': '6000000' })
    const note = 'x'.repeat(5_000_000)
    const value = Buffer.from(
      JSON.stringify({ number: 7, timestamp: '2026-03-01T00:00:00Z', note }),
    )
    await server.produce(topic, [{ value }, { value: numbered(8) }], { perBatch: 1 })
    const source = { protocol: 'kafka', endpoint: server.endpoint, topic }
    const opened = kafka.open({ streamId: newId<StreamId>(), source })
    await using run = new RecordedRun(opened, server.port)
    await expect
      .poll(() => run.messages.map((one) => one.payload.byteLength), patience)
      .toEqual([value.byteLength, numbered(8).byteLength])
  })

  test.each(['gzip', 'zstd'] as const)(
    'are not taken that would be larger than memory when %s is undone',
    async (compression) => {
      const topic = await server.newTopic()
      const value = Buffer.alloc(70 * 1024 * 1024)
      await server.produce(topic, [{ value }], { compression })
      const source = { protocol: 'kafka', endpoint: server.endpoint, topic }
      const opened = kafka.open({ streamId: newId<StreamId>(), source })
      const failure = await new RecordedRun(opened, server.port).ended
      expect(String(failure)).toMatch(/SourceRefused: .*too large when it is decompressed/)
    },
  )

  test('that come first are left where only later ones are wanted, and those of no run are not', async () => {
    const topic = await server.newTopic(2)
    await produce(topic, 0, 10)
    await using source = readerOf(server, topic, { startFrom: 'latest' })
    await running(source)
    await source.runner.stop()
    await produce(topic, 10, 5, 1)
    await server.admin.createPartitions({
      topics: [{ name: topic, count: 3, assignments: [{ brokerIds: [1] }] }],
    })
    await produce(topic, 15, 5, 2)
    source.start()
    const numbers = () => source.entries().numbers.toSorted((one, other) => one - other)
    await expect.poll(numbers, patience).toEqual(numbersFrom(10, 10))
  })

  test('that were deleted before they were read leave a mark', async () => {
    const topic = await server.newTopic()
    await produce(topic, 0, 5)
    await using source = readerOf(server, topic)
    await running(source)
    await expect.poll(() => source.entries().numbers.length, patience).toBe(5)
    await source.runner.stop()
    await produce(topic, 5, 10)
    await server.admin.deleteRecords({
      topics: [{ name: topic, partitions: [{ partition: 0, offset: 8n }] }],
    })
    source.start()
    await expect
      .poll(() => source.entries().numbers, patience)
      .toEqual([0, 1, 2, 3, 4, ...numbersFrom(8, 7)])
    expect(source.entries()).toMatchObject({
      refused: [''],
      sources: [expect.stringMatching(/offset 5/)],
    })
  })

  test('of a topic that was created anew are read from its beginning', async () => {
    const topic = await server.newTopic()
    await produce(topic, 0, 5)
    await using source = readerOf(server, topic)
    await running(source)
    await expect.poll(() => source.entries().numbers.length, patience).toBe(5)
    await source.runner.stop()
    await server.admin.deleteTopics({ topics: [topic] })
    source.start()
    await expect
      .poll(() => source.runner.status, patience)
      .toMatchObject({
        isLasting: true,
        lastError: expect.stringMatching(/there is no such topic/),
      })
    await source.runner.stop()
    await server.createTopic(topic, 1)
    await produce(topic, 5, 3)
    source.start()
    await expect.poll(() => source.entries().numbers, patience).toEqual(numbersFrom(0, 8))
  })

  test('are shown to who tries it, and are still there for a group that reads', async () => {
    const topic = await server.newTopic()
    const streamId = newId<StreamId>()
    await produce(topic, 0, 30)
    await using source = readerOf(server, topic, { group: `vault-${streamId}` })
    await running(source)
    await expect.poll(() => source.entries().numbers.length, patience).toBe(30)
    const allowed = new AllowedDestinations([{ host: '127.0.0.1', port: server.port }])
    const dial = guardedDial(new EgressGuard({ allowed }))
    const trials = new SourceTrials({ connectors: [kafka], dial, nowUs: () => 0 })
    const tried = {
      protocol: 'kafka',
      endpoint: server.endpoint,
      topic,
      group: `vault-${streamId}`,
    }
    const groups = async () => [...(await server.admin.listGroups()).keys()].toSorted()
    const before = await groups()
    const { messages, problem } = await trials.try(tried, newId<UserId>())
    expect(problem).toBeUndefined()
    expect(
      messages.map(({ payload }) => JSON.parse(Buffer.from(payload).toString()).number),
    ).toEqual(numbersFrom(10, 20))
    expect(await groups()).toEqual(before)
    await produce(topic, 30, 5)
    await expect.poll(() => source.entries().numbers, patience).toEqual(numbersFrom(0, 35))
    expect(source.runner.connections).toBe(1)
  })

  test('leave nothing of a group of our own behind when the source is given up', async () => {
    const topic = await server.newTopic()
    const streamId = newId<StreamId>()
    const source = { protocol: 'kafka', endpoint: server.endpoint, topic }
    const opened = kafka.open({ streamId, source })
    const groups = async () => [...(await server.admin.listGroups()).keys()]
    {
      await using run = new RecordedRun(opened, server.port)
      await expect.poll(() => run.position, patience).toBeDefined()
      await expect.poll(groups).toContain(`streamvault-${streamId}`)
    }
    await sleep(0)
    const allowed = new AllowedDestinations([{ host: '127.0.0.1', port: server.port }])
    const dial = guardedDial(new EgressGuard({ allowed }))
    await opened.release?.({ dial, signal: AbortSignal.timeout(60_000) })
    expect(await groups()).not.toContain(`streamvault-${streamId}`)
  })
})
