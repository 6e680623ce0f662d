import { parseJson } from '../../core/parse-json.ts'
import type { DataPoint, ReadingsCursor, ReadingsPage, ReadingsQuery } from './readings-query.ts'
import type { Column } from './shape.ts'

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

/** Bytes of a reading beside its texts, about: its time, and each of its fields. */
const bytesOfReading = 48
const bytesOfField = 24

/** About how many bytes a reading has, but for its texts. */
export function bytesWithoutTexts(columns: readonly Column[]): number {
  return bytesOfReading + bytesOfField * columns.length
}

/** The names of what a reading has as text. */
export function textsOf(columns: readonly Column[]): readonly string[] {
  const texts = columns.filter(({ type }) => type === 'varchar' || type === 'json')
  return ['extra', ...texts.map(({ name }) => name)]
}

/** What is stored of a reading, with its values as answers have them. */
interface StoredPoint {
  readonly timestampUs: number
  readonly digest: bigint
  readonly values: Readonly<Record<string, unknown>>
  /** JSON, and names with commas; null where there is nothing. */
  readonly extra: unknown
  readonly flagged: unknown
}

export function pointOf(stored: StoredPoint, withExtra: boolean): OrderedPoint {
  const { timestampUs, digest, values, extra, flagged } = stored
  return {
    timestampUs,
    digest,
    values,
    ...(withExtra && typeof extra === 'string' && { extra: parsedExtra(extra) }),
    ...(typeof flagged === 'string' && { flagged: flagged.split(',') }),
  }
}

function parsedExtra(extra: string): Readonly<Record<string, unknown>> {
  return parseJson(extra) as Readonly<Record<string, unknown>>
}

/** The order of readings, of places among them and of pages. */
export function inOrder(left: ReadingsCursor, right: ReadingsCursor): number {
  if (left.timestampUs !== right.timestampUs) return left.timestampUs - right.timestampUs
  if (left.digest === right.digest) return 0
  return left.digest < right.digest ? -1 : 1
}

/** The order of a page: that of readings, or that from behind. */
export function orderOf({ order }: Pick<ReadingsQuery, 'order'>): typeof inOrder {
  return order === 'desc' ? (left, right) => inOrder(right, left) : inOrder
}

const digestMax = 2n ** 64n - 1n

/** The place that a reading is the first one behind. */
export function placeBefore({ timestampUs, digest }: ReadingsCursor): ReadingsCursor {
  return digest > 0n
    ? { timestampUs, digest: digest - 1n }
    : { timestampUs: timestampUs - 1, digest: digestMax }
}

/** A page that is being filled. */
export class RawPage {
  readonly query: ReadingsQuery
  /** Where the page begins: with the newest reading, where it goes from behind. */
  readonly #startUs: number | undefined
  readonly #points: OrderedPoint[] = []
  #bytes = 0
  #spanUs: number
  #next: ReadingsCursor | undefined

  constructor(query: ReadingsQuery) {
    const { startUs, after } = query
    this.query = query
    this.#startUs =
      query.order === 'desc' ? after?.timestampUs : Math.max(startUs, after?.timestampUs ?? startUs)
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
    const startUs = this.#startUs ?? this.#points[0]?.timestampUs ?? 0
    const coveredUs = Math.abs(last.timestampUs - startUs)
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
