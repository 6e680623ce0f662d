import type { MqttClient } from 'mqtt'
import { formatUs } from '../../src/core/time.ts'
import type { Answer, ApiClient } from './api-client.ts'
import { marchUs } from './stored-readings.ts'

interface PushAnswer {
  readonly error?: string
  readonly status?: string
}

/** A reading as it is sent; its temperature is its number, and no other has the same. */
interface SentReading {
  readonly timestamp: string
  readonly temperature: number
}

const refusalWaitMs = 20_000

/** Sends numbered readings to one stream, and remembers which of them were acknowledged. */
export class SentReadings {
  readonly streamId: string
  readonly #sent: SentReading[] = []
  readonly #acknowledged = new Set<number>()

  constructor(streamId: string) {
    this.streamId = streamId
  }

  get sent(): number {
    return this.#sent.length
  }

  get acknowledged(): number {
    return this.#acknowledged.size
  }

  /** Sends one reading over HTTP, and resolves with the answer. */
  async push(api: ApiClient): Promise<Answer<PushAnswer>> {
    const reading = this.#next()
    return await this.#push(api, reading)
  }

  /** Sends the reading with a number again. */
  async repeat(api: ApiClient, number: number): Promise<Answer<PushAnswer>> {
    const reading = this.#sent[number]
    if (!reading) throw new Error(`no reading ${number} was sent`)
    return await this.#push(api, reading)
  }

  /** Pushes, several at a time, until each of them is refused, or has not been for long. */
  async pushUntilRefused(api: ApiClient): Promise<Answer<PushAnswer>[]> {
    const untilMs = performance.now() + refusalWaitMs
    const one = async () => {
      for (;;) {
        const answer = await this.push(api)
        if (answer.status !== 202 || performance.now() > untilMs) return answer
      }
    }
    return await Promise.all([one(), one(), one(), one()])
  }

  /** Publishes one reading with QoS 1; resolves with its PUBACK, and never without one. */
  async publish(client: MqttClient): Promise<void> {
    const reading = this.#next()
    const topic = `streams/${this.streamId}/data`
    await client.publishAsync(topic, JSON.stringify(reading), { qos: 1 })
    this.#acknowledged.add(reading.temperature)
  }

  /** Sends again what was not acknowledged, as its senders would. */
  async pushAgain(api: ApiClient): Promise<void> {
    for (const reading of this.#sent) {
      if (this.#acknowledged.has(reading.temperature)) continue
      const { status } = await this.#push(api, reading)
      if (status !== 202) throw new Error(`not even a second attempt was accepted: ${status}`)
    }
  }

  /**
   * What is wrong with the stored readings: an acknowledged one that is missing, one that is there
   * twice, one that was never sent. Nothing, if all is well.
   */
  async faultsOf(api: ApiClient): Promise<string[]> {
    const faults: string[] = []
    const found = new Map<number, number>()
    for (const { timestamp, temperature } of await api.readAll(this.streamId)) {
      const number = Number(temperature)
      found.set(number, (found.get(number) ?? 0) + 1)
      if (this.#sent[number]?.timestamp !== timestamp) faults.push(`${number} was never sent so`)
    }
    for (const { temperature } of this.#sent) {
      const times = found.get(temperature) ?? 0
      if (times > 1) faults.push(`${temperature} is there ${times} times`)
      if (times === 0 && this.#acknowledged.has(temperature)) faults.push(`${temperature} is lost`)
    }
    return faults
  }

  async #push(api: ApiClient, reading: SentReading): Promise<Answer<PushAnswer>> {
    const path = `/streams/${this.streamId}/data`
    const answer = await api.withToken<PushAnswer>('POST', path, reading)
    if (answer.status === 202) this.#acknowledged.add(reading.temperature)
    return answer
  }

  #next(): SentReading {
    const number = this.#sent.length
    const timestamp = formatUs(marchUs + number * 1_000_000)
    const reading = { timestamp, temperature: number }
    this.#sent.push(reading)
    return reading
  }
}
