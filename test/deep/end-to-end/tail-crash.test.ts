import { expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import type { ServiceProcess } from '../../support/service-process.ts'
import { startedServices } from '../../support/started-services.ts'
import { TailClient, type TailKind } from '../../support/tail-client.ts'
import { keyHeaders, kinds } from '../../support/tails.ts'

const services = startedServices()

const kills = 6
const batchMax = 25

/** Sends readings with numbers one after the other, and each batch again until it is acknowledged. */
class Load {
  /** How often each number was sent. */
  readonly attempts: number[] = []
  isOver = false
  acknowledged = 0
  /** Undefined while the service is down. */
  api: ApiClient | undefined
  readonly #streamId: string
  readonly #random = new SeededRandom(20_261_121)
  #changed = Promise.withResolvers<void>()

  constructor(streamId: string) {
    this.#streamId = streamId
  }

  async run(): Promise<void> {
    while (!this.isOver) {
      const from = this.attempts.length
      const count = this.#random.integer(1, batchMax)
      const numbers = Array.from({ length: count }, (_, index) => from + index)
      this.attempts.push(...numbers.map(() => 0))
      while (!(await this.#isTaken(numbers))) await this.#changed.promise
      this.acknowledged += count
      this.change()
    }
  }

  /** Resolves when so many more are acknowledged. */
  async another(count: number): Promise<void> {
    const goal = this.acknowledged + count
    while (this.acknowledged < goal) await this.#changed.promise
  }

  change(change: Partial<Pick<Load, 'api' | 'isOver'>> = {}): void {
    Object.assign(this, change)
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  async #isTaken(numbers: readonly number[]): Promise<boolean> {
    const { api } = this
    if (api === undefined) return false
    for (const number of numbers) this.attempts[number] = (this.attempts[number] ?? 0) + 1
    const body = numbers.map((number) => ({ timestamp: timeOf(number), temperature: number }))
    const answer = await api
      .withToken('POST', `/streams/${this.#streamId}/data`, body)
      .catch(() => undefined)
    return answer?.status === 202
  }
}

/** Not in the order of the numbers, so that what is in the store already is met anywhere. */
function timeOf(number: number): string {
  return new Date(Date.UTC(2026, 1, 28) + ((number * 7_919) % 100_003) * 1_000).toISOString()
}

/** Somebody who goes on from the last position whenever the connection ends. */
class Follower {
  /** How often each number was shown. */
  readonly seen = new Map<number, number>()
  readonly #kind: TailKind
  readonly #path: string
  #tail: TailClient | undefined
  #position: string | undefined
  #taken = 0

  constructor(kind: TailKind, streamId: string) {
    this.#kind = kind
    this.#path = `/streams/${streamId}/tail`
  }

  async open({ http }: ServiceProcess): Promise<void> {
    const from = this.#position === undefined ? 'start=1970-01-01T00:00:00Z' : this.#position
    const query = this.#position === undefined ? from : `from=${encodeURIComponent(from)}`
    const url = `${http}${this.#path}?${query}`
    this.#tail = await TailClient.open(this.#kind, { url, headers: keyHeaders })
    this.#taken = 0
    await this.#tail.begun()
  }

  /** To be called when the service is gone. */
  async ended(): Promise<void> {
    await this.#tail?.ended
    this.#take()
  }

  async all(numbers: number): Promise<void> {
    const hasAll = () => {
      this.#take()
      return this.seen.size
    }
    await expect.poll(hasAll, { interval: 20 }).toBe(numbers)
    this.#tail?.close()
  }

  #take(): void {
    const tail = this.#tail as TailClient
    this.#position = tail.position
    for (const { data } of tail.events.slice(this.#taken)) {
      const number = Number(data['temperature'])
      this.seen.set(number, (this.seen.get(number) ?? 0) + 1)
    }
    this.#taken = tail.events.length
  }
}

test('who follows a stream through kills under load is shown everything acknowledged, each once', async () => {
  const dataDir = services.newFolder()
  const random = new SeededRandom(5)
  let service = await services.start(dataDir)
  let api = new ApiClient(service.http)
  const streamId = await api.createStream()
  const load = new Load(streamId)
  load.change({ api })
  const running = load.run()
  await load.another(200)
  const followers = kinds.map((kind) => new Follower(kind, streamId))

  for (let kill = 0; kill < kills; kill++) {
    for (const follower of followers) await follower.open(service)
    await load.another(random.integer(1, 600))
    load.change({ api: undefined })
    await service.end('SIGKILL')
    for (const follower of followers) await follower.ended()
    service = await services.start(dataDir)
    api = new ApiClient(service.http)
    load.change({ api })
  }
  for (const follower of followers) await follower.open(service)
  load.change({ isOver: true })
  await running

  for (const follower of followers) {
    await follower.all(load.attempts.length)
    for (const [number, attempts] of load.attempts.entries()) {
      const times = follower.seen.get(number) ?? 0
      expect(times, `number ${number}`).toBeGreaterThan(0)
      // What was sent again after a kill may be in the journal twice; in the store it is one.
      expect(times, `number ${number}`).toBeLessThanOrEqual(attempts)
    }
  }
  const { stored } = await api.settled(streamId, load.attempts.length)
  expect(stored).toBe(load.attempts.length)
  expect(load.attempts.some((attempts) => attempts > 1)).toBe(true)
})
