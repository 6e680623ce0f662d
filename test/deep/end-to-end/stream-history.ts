import { isDeepStrictEqual } from 'node:util'
import type { ApiClient } from '../../support/api-client.ts'

/** A reading that is sent: its number is unique, its second is what removals go by. */
export interface SentReading {
  readonly n: number
  readonly second: number
  readonly value: number
  /** Known to the stream in some of its versions only. */
  readonly hasPlace: boolean
}

/** What the newest version of a stream takes, and what of that it stores. */
export interface Rules {
  readonly valueMax: number
  readonly knowsPlace: boolean
  readonly filtersBelow: number | undefined
  readonly deduplicate: boolean
}

export const rulesFirst: Rules = {
  valueMax: 50,
  knowsPlace: false,
  filtersBelow: undefined,
  deduplicate: false,
}

/** In each of these one reading is kept, whatever it says. */
const secondsKept = 20

/** What the service holds of a stream at rest: numbers of readings, and how they were counted. */
export interface Seen {
  readonly stored: readonly (readonly [n: number, value: number])[]
  /** Once for each time that it is held. */
  readonly held: readonly number[]
  readonly received: number
  readonly duplicates: number
  readonly unchanged: number
  readonly filtered: number
}

/** A stream as it should be after everything that was done to it, in this order. */
class StreamHistory {
  #stored = new Map<number, SentReading>()
  #held: SentReading[] = []
  #newest: { readonly of: SentReading; readonly content: string | undefined } | undefined
  #counts = { received: 0, duplicates: 0, unchanged: 0, filtered: 0 }

  copy(): StreamHistory {
    const copy = new StreamHistory()
    copy.#stored = new Map(this.#stored)
    copy.#held = [...this.#held]
    copy.#newest = this.#newest
    copy.#counts = { ...this.#counts }
    return copy
  }

  push(readings: readonly SentReading[], rules: Rules): this {
    this.#counts.received += readings.length
    for (const reading of readings) {
      if (isFit(reading, rules)) this.#take(reading, rules)
      else this.#held.push(reading)
    }
    return this
  }

  redrive(rules: Rules): void {
    const held = this.#held
    this.#held = held.filter((reading) => !isFit(reading, rules))
    for (const reading of held) if (isFit(reading, rules)) this.#take(reading, rules)
  }

  clearRange(from: number, to: number): void {
    for (const { n, second } of this.#stored.values()) {
      if (second >= from && second < to) this.#stored.delete(n)
    }
    if (!this.#newest || this.#stored.has(this.#newest.of.n)) return
    const [of] = [...this.#stored.values()].toSorted((one, other) => timeUs(other) - timeUs(one))
    this.#newest = of && { of, content: undefined }
  }

  clearQuarantine(): void {
    this.#held = []
  }

  seen(): Seen {
    const stored = [...this.#stored.values()].map(({ n, value }) => [n, value] as const)
    return inOrder({ ...this.#counts, stored, held: this.#held.map(({ n }) => n) })
  }

  #take(reading: SentReading, { filtersBelow, deduplicate, knowsPlace }: Rules): void {
    if (filtersBelow !== undefined && reading.value < filtersBelow) {
      this.#counts.filtered++
      return
    }
    const newest = this.#newest
    if (newest === undefined || timeUs(reading) > timeUs(newest.of)) {
      // A version with another field stores something else, also where the field is empty.
      const says = JSON.stringify([knowsPlace, reading.value, reading.hasPlace])
      const content = deduplicate ? says : undefined
      const isSaid = content !== undefined && content === newest?.content
      if (isSaid && windowOf(reading) === windowOf(newest.of)) {
        this.#counts.unchanged++
        return
      }
      this.#newest = { of: reading, content }
    }
    if (this.#stored.has(reading.n)) this.#counts.duplicates++
    this.#stored.set(reading.n, reading)
  }
}

/**
 * All that a stream may be after what was cut off by kills: what is sent again is in the journal once or
 * twice. That makes a difference, as a reading that was dropped the first time may be late the second.
 */
export class PossibleHistories {
  #all: readonly StreamHistory[] = [new StreamHistory()]

  push(readings: readonly SentReading[], rules: Rules, attempts: number): void {
    this.#all = this.#all.flatMap((history) => {
      const once = history.push(readings, rules)
      return attempts === 1 ? [once] : [once, once.copy().push(readings, rules)]
    })
  }

  /** Does what comes to the same when it is done again. */
  change(apply: (history: StreamHistory) => void): void {
    for (const history of this.#all) apply(history)
  }

  receivedLeast(): number {
    return Math.min(...this.#all.map((history) => history.seen().received))
  }

  /** Histories that can have been; what is seen tells which of them was. */
  narrowTo(seen: Seen): readonly Seen[] {
    const all = this.#all
    this.#all = all.filter((history) => isDeepStrictEqual(history.seen(), seen))
    return all.map((history) => history.seen())
  }
}

function isFit({ value, hasPlace }: SentReading, { valueMax, knowsPlace }: Rules): boolean {
  return value <= valueMax && (knowsPlace || !hasPlace)
}

function windowOf({ second }: SentReading): number {
  return Math.floor(second / secondsKept)
}

/** The number is in the time alone: readings that say the same must be able to. */
function timeUs({ second, n }: SentReading): number {
  return second * 1_000_000 + n
}

export function definitionOf(rules: Rules): {
  readonly schema: object
  readonly processing: object
} {
  const { valueMax, knowsPlace, filtersBelow, deduplicate } = rules
  const expression = `value >= ${filtersBelow}`
  return {
    schema: {
      value: { type: 'integer', range: [0, valueMax], required: true },
      place: knowsPlace ? { type: 'string' } : null,
    },
    processing: {
      validation: 'strict',
      deduplicate,
      frequency: `${secondsKept}s`,
      // A timer for each push that breaks it; another version has another rule.
      alerting: [
        { id: 'high', field: 'value', operator: '>', threshold: valueMax / 5, for: '1s' },
        { id: 'any', field: 'value', operator: '>=', threshold: 0 },
        { id: 'gone', silentFor: '1s' },
      ],
      transform: filtersBelow === undefined ? null : [{ filter: { expression } }],
    },
  }
}

export function bodyOf(readings: readonly SentReading[]): object[] {
  return readings.map(({ n, second, value, hasPlace }) => ({
    timestamp: atSecond(second).replace('.000Z', `.${String(n).padStart(6, '0')}Z`),
    value,
    ...(hasPlace && { place: 'hall 3' }),
  }))
}

function numberOf(timestamp: string): number {
  return Number(/\.(\d{6})Z$/.exec(timestamp)?.[1])
}

export function atSecond(second: number): string {
  return new Date(Date.UTC(2026, 1, 28, 23, 59, second)).toISOString()
}

/** What the service holds of a stream that has received so many, at rest, and all that it has counted. */
export async function observed(api: ApiClient, streamId: string, atLeast: number) {
  const counters = await api.settled(streamId, atLeast)
  const readings = await api.readAll(streamId)
  const stored = readings.map(
    ({ timestamp, value }) => [numberOf(String(timestamp)), Number(value)] as const,
  )
  const held = await heldNumbers(api, streamId)
  const { received, duplicates, unchanged, filtered } = counters
  return { counters, seen: inOrder({ stored, held, received, duplicates, unchanged, filtered }) }
}

function inOrder(seen: Seen): Seen {
  return {
    ...seen,
    stored: seen.stored.toSorted(([one], [other]) => one - other),
    held: seen.held.toSorted((one, other) => one - other),
  }
}

/** Each refused reading, as often as it is held. */
async function heldNumbers(api: ApiClient, streamId: string): Promise<number[]> {
  interface Page {
    readonly entries: readonly { readonly id: number; readonly payload: string }[]
    readonly nextCursor: string | null
  }
  const numbers: number[] = []
  let cursor: string | null = '0'
  while (cursor !== null) {
    const path: string = `/streams/${streamId}/quarantine?limit=1000&cursor=${cursor}`
    const { body } = await api.withToken<Page>('GET', path)
    for (const { payload } of body.entries) {
      numbers.push(numberOf((JSON.parse(payload) as { timestamp: string }).timestamp))
    }
    cursor = body.nextCursor
  }
  return numbers
}
