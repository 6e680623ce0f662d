import type { DataPoint, ReadingsCursor, ReadingsPage, ReadingsQuery } from './time-series-store.ts'

/** A window that brings less than this part of a page is followed by a wider one. */
const fullEnough = 1 / 4
const widening = 4

/** Shortest window, in microseconds. */
const spanUsMin = 1_000

/** What orders a reading, and how many bytes it has. */
export interface Outline {
  readonly timestampUs: number
  readonly digest: bigint
  readonly bytes: number
}

export interface OrderedPoint extends DataPoint {
  readonly digest: bigint
}

export interface OrderedPage extends ReadingsPage {
  readonly points: readonly OrderedPoint[]
}

/** A page that is being filled. */
export class RawPage {
  readonly query: ReadingsQuery
  readonly #startUs: number
  readonly #points: OrderedPoint[] = []
  #bytes = 0
  #spanUs: number
  #next: ReadingsCursor | undefined

  constructor(query: ReadingsQuery) {
    const { startUs, after } = query
    this.query = query
    this.#startUs = after === undefined ? startUs : Math.max(startUs, after.timestampUs)
    this.#spanUs = Math.max(spanUsMin, after?.spanUs ?? Number.POSITIVE_INFINITY)
  }

  /** How long the next stretch of time is to be. */
  get spanUs(): number {
    return this.#spanUs
  }

  /** Rows to look for: one more than fit in, so that the page knows whether anything follows. */
  get rowsWanted(): number {
    return this.query.limit - this.#points.length + 1
  }

  /** How many of these still fit in. One reading alone always does, however large it is. */
  roomFor(found: readonly Outline[]): number {
    const { limit, bytesMax } = this.query
    let taken = 0
    for (const { bytes } of found) {
      const rows = this.#points.length + taken
      if (rows >= limit || (rows > 0 && this.#bytes + bytes > bytesMax)) break
      this.#bytes += bytes
      taken++
    }
    return taken
  }

  add(points: readonly OrderedPoint[]): void {
    for (const point of points) this.#points.push(point)
  }

  /** Notes that more follows: the page ends here. */
  end(): void {
    const last = this.#points.at(-1)
    if (!last) return
    const coveredUs = last.timestampUs - this.#startUs
    const spanUs = Math.min(this.#spanUs, Math.max(spanUsMin, coveredUs + coveredUs / 4))
    this.#next = { timestampUs: last.timestampUs, digest: last.digest, spanUs: Math.ceil(spanUs) }
  }

  widen(found: number): void {
    if (found < this.query.limit * fullEnough) this.#spanUs *= widening
  }

  close(): OrderedPage {
    return { points: this.#points, next: this.#next }
  }
}
