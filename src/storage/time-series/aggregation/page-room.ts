import type { AggregatedField, AggregatePoint } from '../aggregate-query.ts'
import { bytesWithoutTexts } from '../raw-page.ts'
import { isText } from './united-fields.ts'

/**
 * Bytes that a page has in memory, unless its query says something else: as many as one of raw
 * readings.
 */
const bytesMaxDefault = 4 * 1024 * 1024

/** Limits of a page, and what is in its points. */
export interface PageLimits {
  readonly limit: number
  readonly bytesMax?: number | undefined
  readonly fields: readonly AggregatedField[]
}

/** What a page still has room for: it ends at its limit of points or of bytes, whichever comes first. */
export class PageRoom {
  readonly #bytesOfPoint: number
  readonly #bytesMax: number
  #pointsLeft: number
  #bytes = 0
  #isFull = false

  constructor({ limit, bytesMax = bytesMaxDefault, fields }: PageLimits) {
    this.#bytesOfPoint = bytesWithoutTexts(fields)
    this.#bytesMax = bytesMax
    this.#pointsLeft = limit
  }

  /** Whether something was found that does not fit in: the page ends before it. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Points to look for: one more than fit in, so that the page knows whether anything follows. */
  get wanted(): number {
    const fitting = Math.floor((this.#bytesMax - this.#bytes) / this.#bytesOfPoint)
    return Math.min(this.#pointsLeft, Math.max(fitting, this.#bytes === 0 ? 1 : 0)) + 1
  }

  /** How many of these fit in, by the bytes of their texts. One point alone always does, however large it is. */
  take(texts: Iterable<number>): number {
    let taken = 0
    for (const bytes of texts) {
      const all = this.#bytes + this.#bytesOfPoint + bytes
      this.#isFull = this.#pointsLeft === 0 || (this.#bytes > 0 && all > this.#bytesMax)
      if (this.#isFull) break
      this.#bytes = all
      this.#pointsLeft--
      taken++
    }
    return taken
  }
}

/** The bytes of the texts of points. */
export function* textsOfPoints(
  points: readonly AggregatePoint[],
  fields: readonly AggregatedField[],
): Generator<number> {
  const keys = fields.filter(isText).map(({ key }) => key)
  for (const { values } of points) {
    yield keys.reduce((sum, key) => sum + bytesOf(values[key]), 0)
  }
}

function bytesOf(value: unknown): number {
  if (value === undefined || value === null) return 0
  return Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value))
}
