import { headers } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nats } from '../../connectors/nats/nats.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { SourceTrials } from '../../src/streams/sources/source-trials.ts'
import { isNatsMissing, NatsServer } from '../support/nats.ts'
import {
  dialHere,
  follower,
  keeps,
  numbers,
  patience,
  readings,
  runs,
} from '../support/nats-source.ts'
import { RecordedRun } from '../support/recorded-run.ts'

const mebibyte = 1024 * 1024

let server: NatsServer

beforeAll(async () => {
  if (isNatsMissing) return
  server = await NatsServer.start()
  await server.restart([`max_payload: ${8 * mebibyte}`])
})

afterAll(async () => await server?.[Symbol.asyncDispose]())

async function newStream(config: object = {}) {
  const stream = await server.newStream({ ...config })
  const subject = `${stream.toLowerCase()}.a`
  return { stream, subject, topic: `${stream.toLowerCase()}.>` }
}

describe.skipIf(isNatsMissing)('a message', () => {
  test('that is larger than a request for many is taken between others', async () => {
    const { subject, topic } = await newStream()
    const large = Buffer.alloc(2 * mebibyte, 0x61)
    const [first, ...others] = readings(0, 10) as [Buffer, ...Buffer[]]
    await server.publish(subject, [first, large, large, ...others])
    await using source = follower(server, { topic })
    source.start()
    await keeps(source, numbers(0, 10))
    const hex = large.toString('hex')
    expect(source.entries().refused.map((bytes) => bytes === hex)).toEqual([true, true])
  })

  test('that is larger than what is taken is known by its beginning', async () => {
    const { subject, topic } = await newStream()
    await server.publish(subject, [Buffer.alloc(5 * mebibyte, 0x61), ...readings(0, 1)])
    await using source = follower(server, { topic })
    source.start()
    await keeps(source, [0])
    expect(source.entries().refused).toEqual([Buffer.alloc(64 * 1024, 0x61).toString('hex')])
  })

  test('that is one of many large ones waits at the server while the disk is slow', async () => {
    const { stream, subject, topic } = await newStream()
    const payloads = readings(0, 40).map((reading) =>
      Buffer.concat([reading, Buffer.alloc(mebibyte / 2, 0x20)]),
    )
    await using source = follower(server, { topic })
    source.start()
    await runs(source)
    source.journal.hold()
    for (const payload of payloads) await server.publish(subject, [payload])
    await expect.poll(() => source.runner.status.unacknowledged, patience).toBeGreaterThan(7)
    await expect
      .poll(async () => (await server.consumers(stream))[0]?.num_waiting, patience)
      .toBe(0)
    // Eight requests of a mebibyte each.
    expect(source.runner.status.unacknowledged).toBeLessThanOrEqual(16)
    source.journal.release()
    await keeps(source, numbers(0, 40))
  })

  test.each([
    [{ eventTypes: {} }, ['opened', 'closed', undefined]],
    [{}, [undefined, undefined, undefined]],
  ])('of a source with %j names its type in a header: %j', async (more, types) => {
    const { subject, topic } = await newStream()
    const client = await server.client()
    for (const [name, type] of [
      ['ce-type', 'opened'],
      ['eventType', 'closed'],
      ['other', 'x'],
    ]) {
      const named = headers()
      named.set(name as string, type as string)
      await client.request(subject, '{}', { headers: named, timeout: 10_000 })
    }
    const definition = { protocol: 'nats', endpoint: server.endpoint, topic, ...more }
    const source = nats.open({ streamId: newId<StreamId>(), source: definition })
    await using run = new RecordedRun(source, server.port)
    await expect.poll(() => run.messages.length, patience).toBe(3)
    expect(run.messages.map(({ eventType }) => eventType)).toEqual(types)
  })
})

/** As `POST /sources/check` does. */
async function tried(topic: string) {
  const trials = new SourceTrials({ connectors: [nats], dial: dialHere(server), nowUs: () => 0 })
  const source = { protocol: 'nats', endpoint: server.endpoint, topic }
  return await trials.try(source, newId<UserId>())
}

describe.skipIf(isNatsMissing).each(['limits', 'workqueue', 'interest'])(
  'a trial of a stream with the retention %s',
  (retention) => {
    test('shows its first messages, leaves nothing behind, and takes nothing away', async () => {
      const { stream, subject, topic } = await newStream({ retention })
      await using source = follower(server, { topic })
      source.start()
      await runs(source)
      source.journal.hold()
      await server.publish(subject, readings(0, 30))
      const before = await server.consumers(stream)
      const found = await tried(topic)
      expect(found).toMatchObject({ isReached: true, count: 20, problem: undefined })
      expect(found.messages.map(({ payload }) => Buffer.from(payload))).toEqual(readings(0, 20))
      const names = (consumers: typeof before) => consumers.map(({ name }) => name)
      expect(names(await server.consumers(stream))).toEqual(names(before))
      source.journal.release()
      await keeps(source, numbers(0, 30))
    })
  },
)
