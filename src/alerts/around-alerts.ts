import { type SeriesColumn, valueAt } from '../storage/time-series/series.ts'

/** A reading around an alert: its time in microseconds, and the fields that rules look at. */
export interface ShownReading {
  readonly timestampUs: number
  readonly values: Readonly<Record<string, unknown>>
}

interface Rows {
  readonly timesUs: Float64Array
  readonly columns: readonly SeriesColumn[]
}

/** Readings before an alert begins, and from there on. */
const readingsBefore = 3
const readingsAfter = 3

interface Waiting {
  readonly readings: ShownReading[]
  left: number
}

/**
 * Copies the readings around alerts out of the pages that go by: those before the one that the walk
 * stands on, that one, and those after it. Nothing is copied of readings that no alert is near.
 */
export class AroundAlerts {
  readonly #names: readonly string[]
  #page: Rows = { timesUs: new Float64Array(0), columns: [] }
  #row = 0
  /** The last readings before the page. */
  #tail: readonly ShownReading[] = []
  /** What the next readings are added to. */
  #waiting: Waiting[] = []

  constructor(names: readonly string[]) {
    this.#names = names
  }

  turnTo(page: Rows): void {
    this.end()
    this.#tail = this.#beforeRow()
    this.#page = page
    this.#row = 0
  }

  /** To be called with each row in turn, before anything is shown of it. */
  goTo(row: number): void {
    this.#row = row
    if (this.#waiting.length === 0) return
    const reading = this.#at(row)
    for (const waiting of this.#waiting) {
      waiting.readings.push(reading)
      waiting.left--
    }
    this.#waiting = this.#waiting.filter(({ left }) => left > 0)
  }

  /** Behind the last row. */
  end(): void {
    this.#row = this.#page.timesUs.length
  }

  /** The readings around here; those that are still to come are added when they do. */
  show(): readonly ShownReading[] {
    const readings = [...this.#beforeRow()]
    const isOnRow = this.#row < this.#page.timesUs.length
    if (isOnRow) readings.push(this.#at(this.#row))
    this.#waiting.push({ readings, left: isOnRow ? readingsAfter - 1 : readingsAfter })
    return readings
  }

  #beforeRow(): readonly ShownReading[] {
    const first = Math.max(0, this.#row - readingsBefore)
    const ofPage = Array.from({ length: this.#row - first }, (_, index) => this.#at(first + index))
    return [...this.#tail, ...ofPage].slice(-readingsBefore)
  }

  #at(row: number): ShownReading {
    const { timesUs, columns } = this.#page
    const values = this.#names.flatMap((name, index) => {
      const value = valueAt(columns[index] as SeriesColumn, row)
      return value === undefined ? [] : [[name, value] as const]
    })
    return { timestampUs: timesUs[row] as number, values: Object.fromEntries(values) }
  }
}
