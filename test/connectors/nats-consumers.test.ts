import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isNatsMissing, NatsServer } from '../support/nats.ts'
import {
  fails,
  follower,
  holds,
  keeps,
  numbers,
  patience,
  readings,
  release,
  runs,
} from '../support/nats-source.ts'

let server: NatsServer

beforeAll(async () => {
  if (!isNatsMissing) server = await NatsServer.start()
})

afterAll(async () => await server?.[Symbol.asyncDispose]())

async function newStream(config: object = {}) {
  const stream = await server.newStream({ ...config })
  const subject = stream.toLowerCase()
  return { stream, subject, topic: `${subject}.>` }
}

describe.skipIf(isNatsMissing)('a consumer of our own', () => {
  test('is made anew where it was, when somebody deletes it', async () => {
    const { stream, subject, topic } = await newStream()
    await using source = follower(server, { topic })
    source.start()
    await server.publish(`${subject}.a`, readings(0, 100))
    await keeps(source, numbers(0, 100))
    const { consumers } = await server.manager()
    await consumers.delete(stream, `streamvault-${source.streamId}`)
    await server.publish(`${subject}.a`, readings(100, 100))
    await keeps(source, numbers(0, 200))
  })

  test('goes on as it is where nothing is under way', async () => {
    const { stream, subject, topic } = await newStream()
    await using source = follower(server, { topic })
    source.start()
    await server.publish(`${subject}.a`, readings(0, 10))
    await keeps(source, numbers(0, 10))
    await expect
      .poll(async () => (await server.consumers(stream))[0]?.num_ack_pending, patience)
      .toBe(0)
    const before = (await server.consumers(stream))[0]?.created
    await source.runner.stop()
    // The server may hear of the end after we do: until then somebody seems to ask for messages.
    await expect
      .poll(async () => (await server.consumers(stream))[0]?.num_waiting, patience)
      .toBe(0)
    source.start()
    await runs(source)
    expect((await server.consumers(stream))[0]?.created).toBe(before)
  })

  test('reads a stream that was made anew from its beginning', async () => {
    const { stream, subject, topic } = await newStream()
    await using source = follower(server, { topic })
    source.start()
    await server.publish(`${subject}.a`, readings(0, 10))
    await keeps(source, numbers(0, 10))
    const { streams } = await server.manager()
    await streams.delete(stream)
    await fails(source, /no stream of JetStream keeps/)
    await streams.add({ name: stream, subjects: [topic] })
    await server.publish(`${subject}.a`, readings(10, 20))
    source.runner.hurry()
    await keeps(source, numbers(0, 30))
  })

  test('begins with what comes from now on, where that is wanted', async () => {
    const { subject, topic } = await newStream()
    await server.publish(`${subject}.a`, readings(0, 10))
    await using source = follower(server, { topic, startFrom: 'latest' })
    source.start()
    await runs(source)
    await source.kill()
    await server.publish(`${subject}.a`, readings(10, 10))
    source.start()
    await keeps(source, numbers(10, 10))
  })

  test('takes the subjects that are wanted, and says which', async () => {
    const { subject } = await newStream()
    await using source = follower(server, { topic: `${subject}.*.boiler` })
    source.start()
    await server.publish(`${subject}.7.boiler`, [Buffer.from('not a reading')])
    await server.publish(`${subject}.7.pump`, readings(0, 1))
    await server.publish(`${subject}.8.boiler`, readings(1, 1))
    await keeps(source, [1])
    expect(source.entries().sources).toEqual([
      expect.stringMatching(`message 1 .subject ${subject}.7.boiler.`),
    ])
  })

  test('is deleted when the stream of readings is gone, which may be twice', async () => {
    const { stream, topic } = await newStream()
    await using source = follower(server, { topic })
    source.start()
    await runs(source)
    expect(await server.consumers(stream)).toHaveLength(1)
    await source.runner.stop()
    await release(server, source.streamId, { topic })
    expect(await server.consumers(stream)).toEqual([])
    await release(server, source.streamId, { topic })
    await (await server.manager()).streams.delete(stream)
    await release(server, source.streamId, { topic })
  })
})

describe.skipIf(isNatsMissing)('a consumer of a group', () => {
  const group = 'vault'

  /** With the consumer that an operator has made. */
  async function newGroup(config: object = {}) {
    const made = await newStream()
    const { consumers } = await server.manager()
    await consumers.add(made.stream, { durable_name: group, ack_policy: 'explicit', ...config })
    return { ...made, source: follower(server, { topic: made.topic, group }) }
  }

  test('is made where there is none, goes on after a kill, and stays', async () => {
    const { stream, subject, topic } = await newStream()
    await using source = follower(server, { topic, group })
    source.start()
    await runs(source)
    source.journal.hold()
    await server.publish(`${subject}.a`, readings(0, 50))
    await expect.poll(() => source.runner.status.unacknowledged, patience).toBe(50)
    await source.kill()
    expect(source.entries().numbers).toEqual([])
    source.start()
    await holds(source, numbers(0, 50))
    await release(server, source.streamId, { topic, group })
    expect(await server.consumers(stream)).toMatchObject([{ name: group }])
  })

  test('sends again what takes long to become durable, which is kept once', async () => {
    const { stream, subject, source: made } = await newGroup({ ack_wait: 0.2e9 })
    await using source = made
    source.start()
    await runs(source)
    source.journal.hold()
    await server.publish(`${subject}.a`, readings(0, 20))
    await expect
      .poll(async () => (await server.consumers(stream))[0]?.num_redelivered, patience)
      .toBe(20)
    source.journal.release()
    await expect
      .poll(async () => (await server.consumers(stream))[0]?.num_ack_pending, patience)
      .toBe(0)
    await keeps(source, numbers(0, 20))
  })

  test('is shared by two who take from it, and each reading comes to one', async () => {
    const { subject, topic } = await newStream()
    await using one = follower(server, { topic, group })
    await using other = follower(server, { topic, group })
    one.start()
    await runs(one)
    other.start()
    await runs(other)
    await server.publish(`${subject}.a`, readings(0, 1_000))
    const all = () => [one, other].flatMap((source) => source.entries().numbers)
    await expect.poll(() => all().length, patience).toBe(1_000)
    expect(all().toSorted((a, b) => a - b)).toEqual(numbers(0, 1_000))
  })

  test('is made anew where it was acknowledged, when somebody deletes it', async () => {
    const { stream, subject, source: made } = await newGroup()
    await using source = made
    source.start()
    await server.publish(`${subject}.a`, readings(0, 10))
    await keeps(source, numbers(0, 10))
    await expect
      .poll(async () => (await server.consumers(stream))[0]?.num_ack_pending, patience)
      .toBe(0)
    await source.runner.stop()
    source.start()
    await runs(source)
    await (await server.manager()).consumers.delete(stream, group)
    await server.publish(`${subject}.a`, readings(10, 10))
    await keeps(source, numbers(0, 20))
  })

  test.each([
    [{ ack_policy: 'none' }, /explicit/],
    [{ ack_policy: 'all' }, /explicit/],
    [{ filter_subject: 'plant_0.a' }, /takes other subjects: plant_0.a/],
    [{ deliver_subject: 'plant_0.b' }, /pull/],
  ])('is refused when it is set up as %j', async (config, reason) => {
    const { source: made } = await newGroup(config)
    await using source = made
    source.start()
    await fails(source, reason)
    expect(source.runner.status.isLasting).toBe(true)
  })

  test('of an operator may set limits to requests', async () => {
    const { subject, source: made } = await newGroup({
      max_batch: 7,
      max_bytes: 4_000,
      max_expires: 1e9,
    })
    await using source = made
    source.start()
    await server.publish(`${subject}.a`, readings(0, 300))
    await keeps(source, numbers(0, 300))
    await server.publish(`${subject}.a`, [Buffer.alloc(5_000)])
    await fails(source, /max_request_max_bytes/)
  })
})

describe.skipIf(isNatsMissing)('a stream', () => {
  test('that keeps messages for consumers alone is read by acknowledgements', async () => {
    const { stream, subject, topic } = await newStream({ retention: 'interest' })
    await using source = follower(server, { topic })
    source.start()
    await runs(source)
    source.journal.hold()
    await server.publish(`${subject}.a`, readings(0, 20))
    await expect.poll(() => source.runner.status.unacknowledged, patience).toBe(20)
    await source.kill()
    source.start()
    await holds(source, numbers(0, 20))
    const { streams } = await server.manager()
    await expect.poll(async () => (await streams.info(stream)).state.messages, patience).toBe(0)
  })

  test('that is a work queue has nothing left out of it', async () => {
    const { topic } = await newStream({ retention: 'workqueue' })
    await using source = follower(server, { topic, startFrom: 'latest' })
    source.start()
    await fails(source, /startFrom must be earliest/)
  })

  test('is missing where none keeps the subject, and has to be named where several do', async () => {
    await using missing = follower(server, { topic: 'nobody.knows' })
    missing.start()
    await fails(missing, /no stream of JetStream keeps the subject nobody.knows/)
    await newStream()
    const { stream, subject } = await newStream()
    await using several = follower(server, { topic: '*.a' })
    several.start()
    await fails(several, /stream has to name one/)
    await using named = follower(server, { topic: '*.a', stream })
    named.start()
    await server.publish(`${subject}.a`, readings(0, 3))
    await keeps(named, numbers(0, 3))
    await using wrong = follower(server, { topic: '*.a', stream: 'NOBODY' })
    wrong.start()
    await fails(wrong, /there is no stream NOBODY/)
  })
})
