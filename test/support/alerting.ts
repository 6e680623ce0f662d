import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, ApiClient } from './api-client.ts'

export interface AlertBody {
  readonly alertId: string
  readonly streamId: string
  readonly ruleId: string
  readonly state: string
  readonly severity: string
  readonly value: unknown
  readonly threshold: unknown
  readonly triggeredAt: string | null
  readonly clearedAt: string | null
  readonly acknowledgedBy: string | null
  readonly mutedUntil: string | null
}

export interface StepBody {
  readonly cause: string
  readonly from: string
  readonly to: string
  readonly at: string
  readonly value: unknown
  readonly reading: object | null
  readonly comment: string | null
  readonly userId: string | null
  readonly eventId: string | null
}

/** A rule that is broken above 80 degrees. */
export const tooHot = { id: 'too-hot', field: 'temperature', operator: '>', threshold: 80 } as const

/** The time of the first reading of tests, which are a second apart. */
const beganMs = Date.parse('2026-01-01T00:00:00Z')

/** A data stream with rules, and what tests do with it. */
export class RuledStream {
  readonly api: ApiClient
  readonly id: string
  #sent = 0

  static async make(api: ApiClient, ...rules: readonly object[]): Promise<RuledStream> {
    const schema = { temperature: { type: 'number' } }
    const processing = { alerting: rules }
    return new RuledStream(api, await api.createStream(schema, { processing }))
  }

  constructor(api: ApiClient, id: string) {
    this.api = api
    this.id = id
  }

  /**
   * Sends readings, one second after the other; resolves when they have moved what they move. Whoever asks for alerts
   * gets what is decided by then, after a wait that ends.
   */
  async push(...temperatures: readonly number[]): Promise<void> {
    await this.send(...temperatures)
    while ((await this.api.status(this.id)).counters.received < this.#sent) await sleep(5)
  }

  /** Sends them; resolves when they are durable. */
  async send(...temperatures: readonly number[]): Promise<void> {
    const readings = temperatures.map((temperature) => ({
      timestamp: new Date(beganMs + this.#sent++ * 1_000).toISOString(),
      temperature,
    }))
    const path = `/streams/${this.id}/data`
    const { status } = await this.api.withToken('POST', path, readings)
    if (status !== 202) throw new Error(`readings were answered ${status}`)
  }

  async alerts(query = ''): Promise<readonly AlertBody[]> {
    const path = `/streams/${this.id}/alerts${query}`
    return (await this.api.withToken<readonly AlertBody[]>('GET', path)).body
  }

  /** The newest alert. */
  async alert(): Promise<AlertBody> {
    const [newest] = await this.alerts()
    if (!newest) throw new Error('the stream has no alert')
    return newest
  }

  async act(kind: string, body: object = {}): Promise<Answer<AlertBody>> {
    const { alertId } = await this.alert()
    return await this.api.withToken('POST', `/alerts/${alertId}/${kind}`, body)
  }

  async history(): Promise<readonly StepBody[]> {
    const { alertId } = await this.alert()
    const path = `/alerts/${alertId}/history`
    return (await this.api.withToken<{ steps: readonly StepBody[] }>('GET', path)).body.steps
  }
}
