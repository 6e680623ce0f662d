import { connect, type MqttClient } from 'mqtt'
import type { Answer, ApiClient } from '../support/api-client.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import type { MadeReading, ReadingKind, StreamLedger } from './crash-ledger.ts'

/** For what hangs, and not for what is slow. */
const waitMsMax = 120_000
const inFlightMax = 30
const batchMax = 20
const refusedShare = 0.04

/** What all senders share: whether to make new readings, and how far the sending has come. */
export class LoadState {
  /** New readings that may still be made. */
  budget = 0
  isServiceUp = false
  isStopped = false
  acknowledged = 0
  outstanding = 0
  /** Answers that no correct service gives. */
  readonly violations: string[] = []
  readonly #waiting = new Set<() => void>()

  change(change: Partial<Pick<LoadState, 'budget' | 'isServiceUp' | 'isStopped'>>): void {
    Object.assign(this, change)
    this.#changed()
  }

  violated(violation: string): void {
    this.violations.push(violation)
    this.#changed()
  }

  /** Makes up to `count` readings, as far as the budget allows; they are outstanding then. */
  make(count: number, makeOne: () => MadeReading): MadeReading[] {
    const allowed = Math.min(count, this.budget)
    this.budget -= allowed
    this.outstanding += allowed
    return Array.from({ length: allowed }, makeOne)
  }

  acknowledge(readings: readonly MadeReading[]): void {
    for (const reading of readings) reading.isAcknowledged = true
    this.acknowledged += readings.length
    this.outstanding -= readings.length
    this.#changed()
  }

  /** Resolves as soon as the condition holds. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.add(resolve)
      await promise
    }
  }

  /** Resolves as soon as the condition holds. @throws Error when that takes too long */
  async soon(what: string, condition: () => boolean): Promise<void> {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.#changed()
    }, waitMsMax)
    await this.until(() => isLate || condition())
    clearTimeout(timer)
    if (isLate) throw new Error(`waited ${waitMsMax} ms in vain for: ${what}`)
  }

  #changed(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }
}

export interface SenderNeeds {
  readonly state: LoadState
  readonly ledgers: readonly StreamLedger[]
  readonly random: SeededRandom
}

/**
 * A device: QoS 1, several messages in flight. MQTT.js connects again by itself and sends again
 * what was not acknowledged.
 */
export class MqttDevice {
  readonly #client: MqttClient
  readonly #needs: SenderNeeds
  /** Every message that waits for its PUBACK, by its key. */
  readonly #inFlight = new Map<string, readonly MadeReading[]>()
  /** Everything that was ever handed to the library; the run's budget bounds it. */
  readonly #published = new Map<string, readonly MadeReading[]>()
  #isConnected = false

  constructor(port: number, clientId: string, needs: SenderNeeds) {
    this.#needs = needs
    this.#client = connect({
      host: '127.0.0.1',
      port,
      clientId,
      username: adminKey,
      password: adminSecret,
      clean: false,
      reconnectPeriod: 40,
    })
    this.#client.on('error', () => undefined)
    this.#client.on('close', () => {
      this.#isConnected = false
    })
    this.#client.on('connect', () => {
      this.#isConnected = true
      this.pump()
    })
    this.#client.on('packetsend', (packet) => {
      if (packet.cmd !== 'publish') return
      // The library may send a packet again that was acknowledged meanwhile: that counts, too.
      const readings = this.#published.get(keyOf(packet.topic, String(packet.payload))) ?? []
      for (const reading of readings) reading.attempts++
    })
  }

  /** Publishes as long as there is room in flight and budget. */
  pump(): void {
    const { state, random, ledgers } = this.#needs
    while (this.#isConnected && this.#inFlight.size < inFlightMax && state.budget > 0) {
      const ledger = ledgers[random.integer(0, ledgers.length - 1)] as StreamLedger
      const count = random.chance(0.1) ? random.integer(2, 5) : 1
      const readings = state.make(count, () => ledger.make(kindOf(random, count === 1)))
      this.#publish(ledger.streamId, count === 1 ? onlyText(readings) : arrayText(readings), {
        readings,
      })
    }
  }

  end(): void {
    this.#client.end(true)
  }

  #publish(
    streamId: string,
    payload: string,
    { readings }: { readonly readings: readonly MadeReading[] },
  ): void {
    const topic = `streams/${streamId}/data`
    const key = keyOf(topic, payload)
    this.#inFlight.set(key, readings)
    this.#published.set(key, readings)
    this.#client.publish(topic, payload, { qos: 1 }, (error) => {
      if (this.#needs.state.isStopped) return
      if (error) {
        this.#publish(streamId, payload, { readings })
        return
      }
      this.#inFlight.delete(key)
      this.#needs.state.acknowledge(readings)
      this.pump()
    })
  }
}

/** Posts one request after the other, and each of them again until it is answered. */
export class HttpSender {
  readonly #api: ApiClient
  readonly #needs: SenderNeeds

  constructor(api: ApiClient, needs: SenderNeeds) {
    this.#api = api
    this.#needs = needs
  }

  /** Runs until the load is stopped. */
  async run(): Promise<void> {
    const { state, random, ledgers } = this.#needs
    for (let request = 0; !state.isStopped; request++) {
      await state.until(() => state.isStopped || state.budget > 0)
      const ledger = ledgers[random.integer(0, ledgers.length - 1)] as StreamLedger
      const count = random.chance(0.5) ? random.integer(2, batchMax) : 1
      const readings = state.make(count, () => ledger.make(kindOf(random, false)))
      if (readings.length === 0) continue
      const headers: Record<string, string> =
        ledger.kind === 'untimed' ? { 'idempotency-key': `${ledger.size}-${request}` } : {}
      const body = count === 1 ? onlyText(readings) : arrayText(readings)
      await this.#post(`/streams/${ledger.streamId}/data`, { body, headers, readings })
    }
  }

  async #post(path: string, request: PostedReadings): Promise<void> {
    const { state } = this.#needs
    const { body, headers, readings } = request
    while (!state.isStopped) {
      await state.until(() => state.isServiceUp || state.isStopped)
      for (const reading of readings) reading.attempts++
      const answer = await this.#api
        .withToken<PostBody>('POST', path, body, headers)
        // A connection that breaks because the service was killed: the request is sent again.
        .catch((error: unknown) => this.#failed(error))
      if (answer === undefined || answer.status === 503) continue
      const violation = wrongAnswer(answer, request)
      if (violation !== undefined) state.violated(violation)
      state.acknowledge(readings)
      return
    }
  }

  #failed(error: unknown): undefined {
    const { state } = this.#needs
    if (state.isServiceUp && !state.isStopped) {
      state.violated(`a request failed while the service was up: ${String(error)}`)
    }
    return undefined
  }
}

interface PostedReadings {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly readings: readonly MadeReading[]
}

interface PostBody {
  readonly rejected?: readonly { readonly index: number }[]
}

/** What is wrong with an answer to these readings, or nothing. */
function wrongAnswer({ status, body }: Answer<PostBody>, sent: PostedReadings): string | undefined {
  const refused = sent.readings.flatMap(({ kind }, index) => (kind === 'valid' ? [] : [index]))
  const told = body.rejected?.map(({ index }) => index)
  const isBatch = sent.body.startsWith('[')
  const expected = refused.length === sent.readings.length ? 422 : 202
  const isRight = status === expected && (!isBatch || told?.join() === refused.join())
  return isRight ? undefined : `${sent.body} was answered ${status} ${JSON.stringify(body)}`
}

/** Two streams can be sent the same text. */
function keyOf(topic: string, payload: string): string {
  return `${topic} ${payload}`
}

function kindOf(random: SeededRandom, mayBeMalformed: boolean): ReadingKind {
  if (!random.chance(refusedShare)) return 'valid'
  return mayBeMalformed && random.chance(0.5) ? 'malformed' : 'refused'
}

function onlyText([reading]: readonly MadeReading[]): string {
  return reading?.text ?? ''
}

function arrayText(readings: readonly MadeReading[]): string {
  return `[${readings.map(({ text }) => text).join(',')}]`
}
