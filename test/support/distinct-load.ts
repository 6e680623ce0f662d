import type { ApiClient } from './api-client.ts'
import { at } from './seconds.ts'

/** Readings of one message. */
const perMessage = 20

/** Sends readings that are all different, until it is told to stop. */
export class DistinctLoad {
  /** Numbers of the readings that were acknowledged. */
  readonly acknowledged = new Set<number>()
  /** Numbers of all readings that were sent. */
  sent = 0
  readonly #api: ApiClient
  readonly #streamId: string
  #isStopped = false
  #running: Promise<void> = Promise.resolve()

  constructor(api: ApiClient, streamId: string) {
    this.#api = api
    this.#streamId = streamId
  }

  /** Sends one message. */
  async send(): Promise<void> {
    const numbers = Array.from({ length: perMessage }, () => this.sent++)
    const body = numbers.map((number) => ({
      timestamp: at(number),
      temperature: number,
    }))
    const answer = await this.#api.withToken('POST', `/streams/${this.#streamId}/data`, body)
    if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
    for (const number of numbers) this.acknowledged.add(number)
  }

  start(): void {
    const run = async () => {
      while (!this.#isStopped) await this.send()
    }
    this.#running = run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }
}
