import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { isKafkaMissing, Kafka } from '../../support/kafka.ts'
import { numbered, numbersFrom } from '../../support/read-topic.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()

const patience = { timeout: 60_000, interval: 20 }

const partitions = 6

/** A service with one stream, which is a member of a group; it can be killed, and goes on then where it was. */
class Member {
  readonly #dataDir = services.newFolder()
  readonly #environment: Readonly<Record<string, string>>
  #process: Awaited<ReturnType<typeof services.start>> | undefined
  #api: ApiClient | undefined
  #streamId = ''

  constructor(port: number) {
    this.#environment = { STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}` }
  }

  get api(): ApiClient {
    if (!this.#api) throw new Error('it was not started')
    return this.#api
  }

  async start(): Promise<void> {
    this.#process = await services.start(this.#dataDir, this.#environment)
    this.#api = new ApiClient(this.#process.http)
  }

  async read(source: object): Promise<void> {
    const definition = { type: 'event_stream', source }
    this.#streamId = await this.api.createStream({ number: { type: 'integer' } }, definition)
  }

  async kill(): Promise<void> {
    await this.#process?.end('SIGKILL')
  }

  /** Leaves the group in good order, or joins it. */
  async change(to: 'pause' | 'resume'): Promise<void> {
    await this.api.withToken('POST', `/streams/${this.#streamId}/${to}`)
  }

  async counters() {
    return (await this.api.status(this.#streamId)).counters
  }

  async numbers(): Promise<readonly number[]> {
    const { received } = await this.counters()
    await this.api.settled(this.#streamId, received)
    return (await this.api.readAll(this.#streamId)).map(({ number }) => Number(number))
  }
}

/** Publishes all the time, until it is stopped. */
class Load {
  published = 0
  #isStopped = false
  readonly #ended: Promise<void>

  constructor(server: Kafka, topic: string) {
    this.#ended = this.#run(server, topic)
  }

  async stop(): Promise<number> {
    this.#isStopped = true
    await this.#ended
    return this.published
  }

  async #run(server: Kafka, topic: string): Promise<void> {
    const producer = server.producer()
    while (!this.#isStopped) {
      const messages = numbersFrom(this.published, 300).map((number) => ({
        topic,
        partition: number % partitions,
        value: numbered(number),
      }))
      await producer.send({ messages, acks: -1 })
      this.published += messages.length
      await sleep(10)
    }
    await producer.close()
  }
}

test.skipIf(isKafkaMissing)(
  'Kafka rebalances under load with SIGKILL: nothing lost, nothing doubled in the store',
  async () => {
    await using server = await Kafka.start()
    const topic = await server.newTopic(partitions)
    const source = { protocol: 'kafka', endpoint: server.endpoint, topic, group: 'plant' }
    const random = new SeededRandom(20_261_122)
    const [one, other] = [new Member(server.port), new Member(server.port)]
    await Promise.all([one.start(), other.start()])
    await one.read(source)
    const load = new Load(server, topic)
    await expect.poll(async () => (await one.counters()).received, patience).toBeGreaterThan(0)
    await other.read(source)
    for (let round = 0; round < 4; round++) {
      const before = (await other.counters()).received
      await expect
        .poll(async () => (await other.counters()).received, patience)
        .toBeGreaterThan(before)
      const killed = round % 2 === 0 ? one : other
      // In the midst of what follows from it that the other one leaves, or comes.
      if (round < 2) await other.change('pause')
      await sleep(random.integer(0, 400))
      await killed.kill()
      await killed.start()
      if (round < 2) await other.change('resume')
      await sleep(random.integer(0, 400))
      await one.kill()
      await one.start()
    }
    const published = await load.stop()
    const received = async () => (await one.counters()).received + (await other.counters()).received
    await expect.poll(received, patience).toBeGreaterThanOrEqual(published)
    // What would come twice would come when partitions are shared out anew.
    await other.change('pause')
    await expect.poll(received, patience).toBe(published)
    const found = [...(await one.numbers()), ...(await other.numbers())]
    expect(found.length).toBe(published)
    expect(found.toSorted((first, second) => first - second)).toEqual(numbersFrom(0, published))
    for (const member of [one, other]) {
      expect(await member.counters()).toMatchObject({ duplicates: 0, quarantined: 0 })
      expect((await member.counters()).received).toBeGreaterThan(0)
    }
  },
)
