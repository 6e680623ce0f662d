import type { ApiClient } from './api-client.ts'
import { at } from './seconds.ts'
import type { SeededRandom } from './seeded-random.ts'

const streamsMax = 6

/** Seconds of time that readings are from: few, so that they repeat and are removed. */
const seconds = 300

/** Does with streams whatever their owner can, one thing after the other, until told to stop. */
export class BusyOwner {
  readonly #api: ApiClient
  readonly #random: SeededRandom
  readonly #vaultId: string
  readonly #streams: string[] = []
  #fields = 0
  #isStopped = false
  #running: Promise<void> = Promise.resolve()

  constructor(api: ApiClient, random: SeededRandom, vaultId: string) {
    this.#api = api
    this.#random = random
    this.#vaultId = vaultId
  }

  start(): void {
    const run = async () => {
      while (!this.#isStopped) await this.#step()
    }
    this.#running = run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #step(): Promise<void> {
    const number = this.#random.integer(0, 19)
    const place = this.#random.integer(0, Math.max(0, this.#streams.length - 1))
    const streamId = this.#streams[place]
    if (streamId === undefined || (number === 0 && this.#streams.length < streamsMax)) {
      await this.#create()
    } else if (number === 1) {
      this.#streams.splice(place, 1)
      await this.#send('DELETE', `/streams/${streamId}`)
    } else if (number <= 3) {
      await this.#send('PUT', `/streams/${streamId}`, { schema: this.#newSchema() })
    } else if (number === 4) {
      await this.#send('POST', `/streams/${streamId}/quarantine/redrive`, {})
    } else if (number === 5) {
      const range = `start=${at(this.#random.integer(0, seconds))}&end=${at(seconds)}`
      await this.#send('DELETE', `/streams/${streamId}/data?${range}`)
    } else {
      await this.#push(streamId)
    }
  }

  async #create(): Promise<void> {
    const definition = { name: 'busy', vaultId: this.#vaultId, type: 'iot_sensor' }
    const body = await this.#send('POST', '/streams', { ...definition, schema: this.#newSchema() })
    this.#streams.push((body as { streamId: string }).streamId)
  }

  /** Good ones, the same again, and ones that are refused. */
  async #push(streamId: string): Promise<void> {
    const readings = Array.from({ length: this.#random.integer(1, 30) }, () => ({
      timestamp: at(this.#random.integer(0, seconds)),
      temperature: this.#random.chance(0.1) ? 'hot' : this.#random.integer(0, 2),
    }))
    await this.#send('POST', `/streams/${streamId}/data`, readings)
  }

  /** Another shape each time, so that there are new versions and tables. */
  #newSchema(): object {
    return { temperature: { type: 'number' }, [`field${this.#fields++}`]: { type: 'number' } }
  }

  async #send(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await this.#api.withToken(method, path, body)
    // Every reading of a batch may be refused.
    if (answer.status >= 400 && answer.status !== 422) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    }
    return answer.body
  }
}
