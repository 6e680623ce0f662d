import type { ApiClient } from '../support/api-client.ts'

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
}

/** A stream as it should be after everything that was done to it, whatever was cut off and repeated. */
export class StreamHistory {
  readonly stored = new Map<number, SentReading>()
  /** How often each refused reading may be held: once, and once more for each repetition. */
  readonly held = new Map<number, { readonly reading: SentReading; times: number }>()
  rules: Rules = { valueMax: 50, knowsPlace: false, filtersBelow: undefined }
  /** Readings of all attempts, and those that were certainly taken. */
  received = { least: 0, most: 0 }

  push(readings: readonly SentReading[], attempts: number): void {
    this.received.least += readings.length
    this.received.most += readings.length * attempts
    for (const reading of readings) {
      if (this.#isFit(reading)) this.#store(reading)
      else {
        const times = (this.held.get(reading.n)?.times ?? 0) + attempts
        this.held.set(reading.n, { reading, times })
      }
    }
  }

  redrive(): void {
    for (const { reading } of this.held.values()) {
      if (!this.#isFit(reading)) continue
      this.held.delete(reading.n)
      this.#store(reading)
    }
  }

  clearRange(from: number, to: number): void {
    for (const { n, second } of this.stored.values()) {
      if (second >= from && second < to) this.stored.delete(n)
    }
  }

  clearQuarantine(): void {
    this.held.clear()
  }

  #isFit({ value, hasPlace }: SentReading): boolean {
    return value <= this.rules.valueMax && (this.rules.knowsPlace || !hasPlace)
  }

  #store(reading: SentReading): void {
    const { filtersBelow } = this.rules
    if (filtersBelow !== undefined && reading.value < filtersBelow) return
    this.stored.set(reading.n, reading)
  }
}

export function definitionOf({ valueMax, knowsPlace, filtersBelow }: Rules): object {
  const expression = `value >= ${filtersBelow}`
  return {
    schema: {
      n: { type: 'integer', required: true },
      value: { type: 'integer', range: [0, valueMax] },
      place: knowsPlace ? { type: 'string' } : null,
    },
    processing: {
      validation: 'strict',
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
    timestamp: atSecond(second),
    n,
    value,
    ...(hasPlace && { place: 'hall 3' }),
  }))
}

export function atSecond(second: number): string {
  return new Date(Date.UTC(2026, 1, 28, 23, 59, second)).toISOString()
}

/** What the service holds of a stream that has received so many, at rest, in the terms of a history. */
export async function observed(api: ApiClient, streamId: string, atLeast: number) {
  const counters = await api.settled(streamId, atLeast)
  const readings = await api.readAll(streamId)
  const held = await heldNumbers(api, streamId)
  const { received, ...terms } = counters
  return {
    counters,
    sum: Object.values(terms).reduce((total, term) => total + term, 0) - received,
    stored: readings.map(({ n }) => Number(n)).toSorted((one, other) => one - other),
    values: new Map(readings.map(({ n, value }) => [Number(n), Number(value)])),
    held,
  }
}

/** How often each refused reading is held. */
async function heldNumbers(api: ApiClient, streamId: string): Promise<Map<number, number>> {
  interface Page {
    readonly entries: readonly { readonly id: number; readonly payload: string }[]
    readonly nextCursor: string | null
  }
  const times = new Map<number, number>()
  let cursor: string | null = '0'
  while (cursor !== null) {
    const path: string = `/streams/${streamId}/quarantine?limit=1000&cursor=${cursor}`
    const { body } = await api.withToken<Page>('GET', path)
    for (const { payload } of body.entries) {
      const { n } = JSON.parse(payload) as { n: number }
      times.set(n, (times.get(n) ?? 0) + 1)
    }
    cursor = body.nextCursor
  }
  return times
}
