import type { ApiClient, StreamCounters } from '../support/api-client.ts'

/**
 * What a stream of the crash run is like. `untimed` readings carry no timestamp: only their
 * Idempotency-Key keeps them from being stored twice.
 */
export type StreamKind = 'lenient' | 'strict' | 'untimed'

export type ReadingKind = 'valid' | 'refused' | 'malformed'

/** A reading that was made to be sent. Its number is its value, and unique in its stream. */
export interface MadeReading {
  readonly number: number
  readonly kind: ReadingKind
  /** What is sent, byte for byte. */
  readonly text: string
  /** The time that it must come back with; undefined: that of its receipt. */
  readonly timestamp: string | undefined
  /** No later than the time that it is stored under. */
  readonly earliestUs: number
  /** How often it was sent: a journal can hold it no more often. */
  attempts: number
  isAcknowledged: boolean
}

/** Two hours before the end of a month, so that a run of some size fills two monthly tables. */
const firstUs = Date.parse('2026-02-28T22:00:00Z') * 1000
const stepUs = 7_000_000

/** Times of receipt are the server's; its clock may differ from ours by this much. */
const clockSlackUs = 5_000_000

const violationsShown = 10

/** Everything that was sent to one stream, and whether the service has kept it. */
export class StreamLedger {
  readonly streamId: string
  readonly kind: StreamKind
  readonly #made: MadeReading[] = []
  readonly #byText = new Map<string, MadeReading>()
  readonly #timesQuarantined = new Map<MadeReading, number>()
  /** Readings below this number were all found at an earlier check. */
  #checked = 0
  #quarantineCursor = '0'
  #quarantineListed = 0

  constructor(streamId: string, kind: StreamKind) {
    this.streamId = streamId
    this.kind = kind
  }

  get size(): number {
    return this.#made.length
  }

  make(kind: ReadingKind): MadeReading {
    const number = this.#made.length
    const timeUs = timeOf(number)
    const timestamp = this.kind === 'untimed' ? undefined : formatted(timeUs)
    const text = textOf({ number, kind, timestamp, streamKind: this.kind })
    const earliestUs = timestamp === undefined ? Date.now() * 1000 - clockSlackUs : timeUs
    const reading = {
      number,
      kind,
      text,
      timestamp,
      earliestUs,
      attempts: 0,
      isAcknowledged: false,
    }
    this.#made.push(reading)
    if (kind !== 'valid') this.#byText.set(text, reading)
    return reading
  }

  /**
   * Compares what the service says with what was sent. To be called at rest, when every reading was
   * acknowledged. A whole check reads everything back, another only what is new since the last one.
   */
  async violations(api: ApiClient, { isWhole }: { readonly isWhole: boolean }): Promise<string[]> {
    const from = isWhole ? 0 : this.#checked
    const counters = await this.#countersAtRest(api)
    const found = [
      ...this.#unacknowledged(),
      ...this.#wrongCounters(counters),
      ...(await this.#wrongReadings(api, { from, stored: counters.stored })),
      ...(await this.#wrongQuarantine(api, counters.quarantined)),
    ]
    this.#checked = this.#made.length
    const shown = found.slice(0, violationsShown)
    if (found.length > shown.length) shown.push(`... and ${found.length - shown.length} more`)
    return shown.map((violation) => `${this.kind} stream ${this.streamId}: ${violation}`)
  }

  async #countersAtRest(api: ApiClient): Promise<StreamCounters> {
    // Readings that were lost never arrive: then the check says which, and not this wait.
    const settled = await api.settled(this.streamId, this.#made.length).catch(() => undefined)
    return settled ?? (await api.status(this.streamId)).counters
  }

  #unacknowledged(): string[] {
    return this.#made
      .slice(this.#checked)
      .filter(({ isAcknowledged }) => !isAcknowledged)
      .map(({ number }) => `reading ${number} was never acknowledged`)
  }

  #wrongCounters(counters: StreamCounters): string[] {
    const { received, pending, ...ends } = counters
    const sum = Object.values(ends).reduce((left, right) => left + right, 0)
    const valid = this.#made.filter(({ kind }) => kind === 'valid').length
    const attempts = this.#made.reduce((total, reading) => total + reading.attempts, 0)
    const rules: readonly [boolean, string][] = [
      [received === sum && pending === 0, 'do not add up'],
      [counters.stored === valid, `should have ${valid} stored`],
      [received >= this.#made.length, `count fewer than the ${this.#made.length} that were made`],
      [received <= attempts, `count more than the ${attempts} that were sent`],
      [counters.discarded + counters.unchanged + counters.filtered === 0, 'lose readings'],
    ]
    return rules
      .filter(([holds]) => !holds)
      .map(([, problem]) => `the counters ${JSON.stringify(counters)} ${problem}`)
  }

  async #wrongReadings(
    api: ApiClient,
    { from, stored }: { readonly from: number; readonly stored: number },
  ): Promise<string[]> {
    const due = this.#made.slice(from)
    const startUs = due.reduce((least, { earliestUs }) => Math.min(least, earliestUs), Infinity)
    if (startUs === Infinity) return []
    const points = await api.readAll(
      this.streamId,
      from === 0 ? '' : `&start=${formatted(startUs)}`,
    )
    const violations: string[] = []
    const times = new Map<number, number>()
    for (const point of points) {
      const number = Number(point['value'])
      const reading = this.#made[number]
      times.set(number, (times.get(number) ?? 0) + 1)
      if (reading?.kind !== 'valid') {
        violations.push(`${JSON.stringify(point)} was stored and never sent`)
      } else if (reading.timestamp !== undefined && reading.timestamp !== point['timestamp']) {
        violations.push(`${reading.text} came back as ${JSON.stringify(point)}`)
      }
    }
    for (const { number, kind, text } of due) {
      const count = times.get(number) ?? 0
      if (kind === 'valid' && count === 0) violations.push(`${number} was lost: ${text}`)
    }
    for (const [number, count] of times) {
      if (count > 1) violations.push(`reading ${number} was stored ${count} times`)
    }
    if (from === 0 && points.length !== stored) {
      violations.push(`${points.length} readings were read back, ${stored} were counted`)
    }
    return violations
  }

  async #wrongQuarantine(api: ApiClient, counted: number): Promise<string[]> {
    const violations: string[] = []
    for (const payload of await this.#newlyQuarantined(api)) {
      this.#quarantineListed++
      const reading = this.#byText.get(payload)
      if (!reading) violations.push(`the quarantine holds what was never sent: ${payload}`)
      else this.#timesQuarantined.set(reading, (this.#timesQuarantined.get(reading) ?? 0) + 1)
    }
    for (const reading of this.#byText.values()) {
      const times = this.#timesQuarantined.get(reading) ?? 0
      if (times === 0) violations.push(`refused, but not in quarantine: ${reading.text}`)
      if (times > reading.attempts) {
        violations.push(
          `sent ${reading.attempts} times, ${times} times in quarantine: ${reading.text}`,
        )
      }
    }
    if (counted !== this.#quarantineListed) {
      violations.push(`${counted} were counted as quarantined, ${this.#quarantineListed} listed`)
    }
    return violations
  }

  /** Payloads of entries that were not read at an earlier check. */
  async #newlyQuarantined(api: ApiClient): Promise<string[]> {
    interface Page {
      readonly entries: readonly { readonly id: number; readonly payload: string }[]
      readonly nextCursor: string | null
    }
    const payloads: string[] = []
    let isLast = false
    while (!isLast) {
      // The id of an entry serves as the cursor to what comes after it.
      const path = `/streams/${this.streamId}/quarantine?limit=1000&cursor=${this.#quarantineCursor}`
      const { body } = await api.withToken<Page>('GET', path)
      payloads.push(...body.entries.map(({ payload }) => payload))
      this.#quarantineCursor = String(body.entries.at(-1)?.id ?? this.#quarantineCursor)
      isLast = body.nextCursor === null
    }
    return payloads
  }
}

interface Wording {
  readonly number: number
  readonly kind: ReadingKind
  readonly timestamp: string | undefined
  readonly streamKind: StreamKind
}

function textOf({ number, kind, timestamp, streamKind }: Wording): string {
  if (kind === 'valid') return JSON.stringify({ timestamp, value: number, place: 'hall 3' })
  // Cut off within the number, as a broken device might.
  if (kind === 'malformed') return `{"timestamp":"${timestamp}","value":${number}`
  return streamKind === 'strict'
    ? JSON.stringify({ timestamp, value: number, unknown: true })
    : JSON.stringify({ timestamp, value: `${number} degrees` })
}

/** Two neighbours share one timestamp: different readings of one instant are both kept. */
function timeOf(number: number): number {
  const pair = Math.floor(number / 2)
  return firstUs + pair * stepUs + (pair % 1000)
}

function formatted(timeUs: number): string {
  const ms = Math.floor(timeUs / 1000)
  const micros = String(timeUs - ms * 1000).padStart(3, '0')
  return `${new Date(ms).toISOString().slice(0, -1)}${micros}Z`
}
