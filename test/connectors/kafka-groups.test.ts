import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Consumer } from '@platformatic/kafka'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kafka } from '../../connectors/kafka/kafka.ts'
import type { FetchedSource, FetchRun } from '../../src/contracts/fetch-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { dialOf } from '../support/dial-of.ts'
import { isKafkaMissing, Kafka } from '../support/kafka.ts'
import { numbered, numbersFrom, readerOf } from '../support/read-topic.ts'

const patience = { timeout: 60_000, interval: 20 }

/** A source whose service can die at any point: what it has accepted till then is durable. */
class MortalRun {
  readonly numbers: number[]
  position: SourcePosition | undefined
  /** Nobody hears any more what is durable. */
  isDying = false
  readonly #sockets: Socket[] = []
  readonly #stop = new AbortController()
  readonly #ended: Promise<unknown>

  constructor(source: FetchedSource, before?: Pick<MortalRun, 'numbers' | 'position'>) {
    this.numbers = [...(before?.numbers ?? [])]
    this.position = before?.position
    const dial = dialOf(async ({ host, port }) => {
      const socket = connect({ host, port })
      this.#sockets.push(socket)
      await once(socket, 'connect')
      return socket
    })
    const accept: FetchRun['accept'] = async (messages, position) => {
      for (const { payload } of messages) {
        this.numbers.push(
          (JSON.parse(Buffer.from(payload).toString()) as { number: number }).number,
        )
      }
      this.position = position ?? this.position
      if (this.isDying) await new Promise<never>(() => undefined)
      return []
    }
    this.#ended = source
      .run({
        accept,
        dial,
        position: this.position,
        signal: this.#stop.signal,
        onRunning: () => undefined,
        onHeldUp: () => undefined,
        onWaiting: () => undefined,
        onRound: () => undefined,
        wish: { grant: () => false, listen: () => () => undefined },
        nowUs: () => Date.now() * 1_000,
      })
      .catch((error: unknown) => error)
  }

  /** What it has failed with. */
  get stopped(): Promise<unknown> {
    return this.#ended
  }

  die(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async stop(): Promise<unknown> {
    this.#stop.abort()
    return await this.#ended
  }
}

describe.skipIf(isKafkaMissing)('a group of Kafka', () => {
  let server: Kafka
  beforeAll(async () => {
    server = await Kafka.start()
  })
  afterAll(async () => await server[Symbol.asyncDispose]())

  async function produce(topic: string, first: number, count: number, partitions = 1) {
    const messages = numbersFrom(first, count).map((n) => ({
      value: numbered(n),
      partition: n % partitions,
    }))
    await server.produce(topic, messages)
  }

  function open(topic: string, group: string): FetchedSource {
    const source = { protocol: 'kafka', endpoint: server.endpoint, topic, group }
    return kafka.open({ streamId: newId<StreamId>(), source })
  }

  test('hears of what was durable when a member was killed, before another gets its partitions', async () => {
    const topic = await server.newTopic(2)
    const group = 'killed'
    const source = open(topic, group)
    const first = new MortalRun(source)
    await produce(topic, 0, 10, 2)
    await expect.poll(() => first.numbers.length, patience).toBe(10)
    first.isDying = true
    await produce(topic, 10, 10, 2)
    await expect.poll(() => first.numbers.length, patience).toBe(20)
    first.die()
    // It waits for the one that was killed.
    const other = new MortalRun(open(topic, group))
    const state = async () =>
      (await server.admin.describeGroups({ groups: [group] })).get(group)?.state
    await expect.poll(state, patience).toBe('PreparingRebalance')
    const again = new MortalRun(source, first)
    await produce(topic, 20, 10, 2)
    await expect.poll(() => again.numbers.length + other.numbers.length, patience).toBe(30)
    await other.stop()
    await produce(topic, 30, 2, 2)
    await expect.poll(() => again.numbers.length + other.numbers.length, patience).toBe(32)
    await again.stop()
    const numbers = [...again.numbers, ...other.numbers].toSorted((one, two) => one - two)
    expect(numbers).toEqual(numbersFrom(0, 32))
    expect(other.numbers.length).toBeGreaterThan(0)
  })

  test('goes on where another member of it has ended, whoever was further before', async () => {
    const topic = await server.newTopic()
    await using one = readerOf(server, topic, { group: 'turns' })
    await using other = readerOf(server, topic, { group: 'turns' })
    for (const [turn, source] of [one, other, one, other].entries()) {
      source.start()
      await produce(topic, turn * 10, 10)
      const kept = turn < 2 ? 10 : 20
      await expect.poll(() => source.entries().numbers.length, patience).toBe(kept)
      await source.runner.stop()
    }
    const numbers = [...one.entries().numbers, ...other.entries().numbers]
    expect(numbers.toSorted((first, second) => first - second)).toEqual(numbersFrom(0, 40))
  })

  test('cannot be joined that shares partitions in another way', async () => {
    const topic = await server.newTopic()
    const stranger = new Consumer({ ...server.clientOptions, groupId: 'strange' })
    stranger.topics.track(topic)
    await stranger.joinGroup({ protocols: [{ name: 'roundrobin', version: 1 }] })
    await using source = readerOf(server, topic, { group: 'strange' })
    source.start()
    await expect
      .poll(() => source.runner.status, patience)
      .toMatchObject({
        isLasting: true,
        lastError: expect.stringMatching(/share partitions in another way/),
      })
    await stranger.close(true)
  })

  test('is not read where the log has lost what was read of it', async () => {
    const topic = await server.newTopic()
    await produce(topic, 0, 5)
    const source = open(topic, 'ahead')
    const run = new MortalRun(source)
    await expect.poll(() => run.numbers.length, patience).toBe(5)
    await run.stop()
    const position = JSON.parse(JSON.stringify(run.position).replace('"0":5', '"0":50'))
    const ahead = new MortalRun(source, { numbers: [], position })
    expect(String(await ahead.stopped)).toMatch(
      /SourceRefused: .*the log ends at 5, and was read up to 50/,
    )
  })
})
