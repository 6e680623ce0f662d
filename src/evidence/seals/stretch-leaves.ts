import { compareText } from '../../core/canonical-json.ts'
import { ReadingTexts } from '../../ledgers/seals/reading-text.ts'
import type { ReadingsCursor } from '../../storage/time-series/readings-query.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'

/** Readings of a page: as many as a query may have at a time without others noticing. */
const pageRows = 10_000

/** Bytes of a page: more than ten thousand ordinary readings have. */
const pageBytes = 8 * 1024 * 1024

/** Characters of all texts of one time, which are in memory together to be sorted. */
const charactersAtOnceMax = 32 * 1024 * 1024

/** Readings of one time that are too many to be put in order. */
export class TooManyAtOnce extends Error {
  override readonly name = 'TooManyAtOnce'
  readonly timestampUs: number

  constructor(timestampUs: number, { streamId, charactersMax = charactersAtOnceMax }: Bounds) {
    super(
      `the readings of stream ${streamId} at ${timestampUs} have more than ${charactersMax} characters together`,
    )
    this.timestampUs = timestampUs
  }
}

/** What is read of a store here. */
export type SealedStore = Pick<TimeSeriesStore, 'query'>

/** A leaf of a seal: a reading by its text. */
export interface Leaf {
  readonly timestampUs: number
  readonly text: string
}

export interface LeavesQuery {
  readonly streamId: string
  readonly startUs: number
  readonly endUs: number
  /** Readings of a page, where only some are wanted. */
  readonly limit?: number
  /** Characters of all texts of one time, where fewer are to be in memory than a seal may have. */
  readonly charactersMax?: number
  /** Awaited between two pages. */
  readonly betweenPages?: () => Promise<void>
}

type Bounds = Pick<LeavesQuery, 'streamId' | 'charactersMax'>

/** Takes a leaf. Returns whether it wants no more. */
export type TakeLeaf = (timestampUs: number, text: string) => boolean

/**
 * Passes on the leaves of the readings of a time, in their order: by time, then by text. A call for each and not a list,
 * because a million of them are not to be in memory longer than needed.
 *
 * @throws TooManyAtOnce
 */
export async function readLeaves(
  store: SealedStore,
  query: LeavesQuery,
  take: TakeLeaf,
): Promise<void> {
  const { streamId, startUs, endUs, limit = pageRows, betweenPages } = query
  const texts = new ReadingTexts(streamId)
  const ofTime = new LeavesOfTime(query, take)
  let after: ReadingsCursor | undefined
  do {
    const page = { streamId, startUs, endUs, fields: [], limit, bytesMax: pageBytes, after }
    const { points, next } = await store.query(page)
    for (const point of points) {
      if (ofTime.add(point.timestampUs, texts.of(point))) return
    }
    after = next
    if (after !== undefined) await betweenPages?.()
  } while (after !== undefined)
  ofTime.end()
}

/** Holds the leaves of one time until all of them are there. */
class LeavesOfTime {
  readonly #of: Bounds
  readonly #take: TakeLeaf
  #timestampUs = -1
  #texts: string[] = []
  #characters = 0

  constructor(of: Bounds, take: TakeLeaf) {
    this.#of = of
    this.#take = take
  }

  /** Returns whether no more are wanted. */
  add(timestampUs: number, text: string): boolean {
    if (timestampUs !== this.#timestampUs && this.end()) return true
    this.#timestampUs = timestampUs
    this.#texts.push(text)
    this.#characters += text.length
    const { charactersMax = charactersAtOnceMax } = this.#of
    if (this.#characters > charactersMax) throw new TooManyAtOnce(timestampUs, this.#of)
    return false
  }

  /** Passes on what is held. Returns whether no more are wanted. */
  end(): boolean {
    const texts = this.#texts
    if (texts.length > 1) texts.sort(compareText)
    for (const text of texts) {
      if (this.#take(this.#timestampUs, text)) return true
    }
    texts.length = 0
    this.#characters = 0
    return false
  }
}
