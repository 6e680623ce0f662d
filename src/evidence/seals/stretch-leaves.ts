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

  constructor(streamId: string, timestampUs: number) {
    super(
      `the readings of stream ${streamId} at ${timestampUs} have more than ${charactersAtOnceMax} characters together`,
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
}

/**
 * The leaves of the readings of a time, in their order: by time, then by text. They come page by page, and all of
 * one time come together.
 *
 * @throws TooManyAtOnce
 */
export async function* leavesOf(
  store: SealedStore,
  { streamId, startUs, endUs, limit = pageRows }: LeavesQuery,
): AsyncGenerator<readonly Leaf[]> {
  const texts = new ReadingTexts(streamId)
  let after: ReadingsCursor | undefined
  let held: Leaf[] = []
  do {
    const query = { streamId, startUs, endUs, fields: [], limit, bytesMax: pageBytes, after }
    const { points, next } = await store.query(query)
    const leaves = held
    for (const point of points) {
      leaves.push({ timestampUs: point.timestampUs, text: texts.of(point) })
    }
    // What has the last time may go on with the next page.
    held = next === undefined ? [] : leaves.splice(startOfLastTime(leaves))
    assertSortable(streamId, held)
    sortTimes(leaves)
    if (leaves.length > 0) yield leaves
    after = next
  } while (after !== undefined)
}

/** Where the leaves begin that have the time of the last one. */
function startOfLastTime(leaves: readonly Leaf[]): number {
  const lastUs = leaves.at(-1)?.timestampUs
  let at = leaves.length
  while (at > 0 && leaves[at - 1]?.timestampUs === lastUs) at--
  return at
}

function assertSortable(streamId: string, leaves: readonly Leaf[]): void {
  let characters = 0
  for (const { text, timestampUs } of leaves) {
    characters += text.length
    if (characters > charactersAtOnceMax) throw new TooManyAtOnce(streamId, timestampUs)
  }
}

/** Sorts the leaves of each time, which are in the order of time already. */
function sortTimes(leaves: Leaf[]): void {
  for (let from = 0; from < leaves.length; ) {
    const timestampUs = leaves[from]?.timestampUs
    let to = from + 1
    while (leaves[to]?.timestampUs === timestampUs) to++
    if (to - from > 1) {
      const sorted = leaves
        .slice(from, to)
        .sort((left, right) => compareText(left.text, right.text))
      for (const [index, leaf] of sorted.entries()) leaves[from + index] = leaf
    }
    from = to
  }
}
