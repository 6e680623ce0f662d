import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Range } from '../../../aggregation/point-reader.ts'
import { type BucketRun, bucketRuns } from '../../../bucket-runs.ts'
import { coveredRanges } from '../../../rollups/covered.ts'
import { rollupWidthUs } from '../../../rollups/rollup-width.ts'
import { ceilTo, gapsOf } from '../../../windows/window-starts.ts'
import { DayLayout, type KeptHalfHour } from '../../rollups/day-of-rollups.ts'
import type { RollupDay } from '../../rollups/rollup-tables.ts'
import type { ReadSession } from '../session.ts'
import {
  addTotals,
  type FoundTotals,
  firstOf,
  type PointTotals,
  type TotalsQuestion,
  totalsAt,
} from './read-totals.ts'
import type { SelectedStream, Selection, Source } from './selection.ts'
import type { ColumnTotals } from './totals.ts'

/** Days that are added up before others have their turn. */
const daysPerTurn = 500

/**
 * Reads what `readTotals` does, out of rollups as far as they tell, and else out of the readings.
 * Undefined where rollups do not help, or have been written anew since the query began: then only
 * the readings say what there was.
 */
export async function readRolledUpTotals(
  session: ReadSession,
  selection: Selection,
  question: TotalsQuestion,
): Promise<PointTotals[] | undefined> {
  const { rolledUp, query } = selection
  if (rolledUp.size === 0) return undefined
  const range = wholeRange(selection, question.range)
  const covered = coveredRanges([...rolledUp.values()], query.buckets, range)
  if (covered.length === 0) return undefined
  const found: FoundTotals = new Map()
  const rows = new RolledUpRows(found, { selection, question, range })
  if (!(await rows.add(session, covered))) return undefined
  const inRows = withSources(selection, (id) => rolledUp.has(id))
  for (const gap of gapsOf(range, covered)) {
    await addTotals(found, session, { selection: inRows, question: { ...question, range: gap } })
  }
  const others = withSources(selection, (id) => !rolledUp.has(id))
  await addTotals(found, session, { selection: others, question })
  const points = firstOf(found, question)
  return points.every((point) => isExact(point, selection)) ? points : undefined
}

/** Rollups keep instants as doubles, which do not count microseconds before 1684 and after 2255. */
function isExact({ columns }: PointTotals, selection: Selection): boolean {
  return selection.columns.every(({ type }, index) => {
    const { count, min, max } = columns[index] as ColumnTotals
    if (type !== 'timestamp' || count === 0) return true
    return [min, max].every((us) => typeof us === 'number' && isCounted(us))
  })
}

/** Behind the newest reading there is nothing: its half hour may be taken as a whole. */
function wholeRange({ query, endUs }: Selection, { fromUs, toUs }: Range): Range {
  const endsThere = toUs === endUs
  return { fromUs, toUs: endsThere ? Math.min(query.endUs, ceilTo(toUs, rollupWidthUs)) : toUs }
}

/** The part of a selection that is about some of its streams. */
function withSources(selection: Selection, isWanted: (id: string) => boolean): Selection {
  const sources = selection.sources.flatMap((source): Source[] => {
    const streams = new Map([...source.streams].filter(([id]) => isWanted(id)))
    return streams.size > 0 ? [{ ...source, streams }] : []
  })
  return { ...selection, sources }
}

/** An infinity where the function was not asked for. */
function isCounted(us: number): boolean {
  return !Number.isFinite(us) || Number.isSafeInteger(us)
}

interface RowsNeeds {
  readonly selection: Selection
  readonly question: TotalsQuestion
  readonly range: Range
}

/** Adds rows of rollups up. */
class RolledUpRows {
  readonly #found: FoundTotals
  readonly #needs: RowsNeeds
  readonly #runs: readonly BucketRun[]
  readonly #sums = new Map<ColumnTotals, CarefulSum>()
  #run = 0

  constructor(found: FoundTotals, needs: RowsNeeds) {
    const { selection, range } = needs
    this.#found = found
    this.#needs = needs
    this.#runs = bucketRuns(selection.query.buckets, range.fromUs, range.toUs)
  }

  /** Returns whether all of them were those that the query knows of. */
  async add(session: ReadSession, covered: readonly Range[]): Promise<boolean> {
    const { sources, rolledUp } = this.#needs.selection
    const outline = { fromUs: covered[0]?.fromUs ?? 0, toUs: covered.at(-1)?.toUs ?? 0 }
    let days = 0
    for (const source of sources) {
      for (const stream of source.streams.values()) {
        const asOf = rolledUp.get(stream.streamId)
        if (!asOf) continue
        const asked = { asOf, shape: source.shape.id, range: outline }
        const found = session.rollupDays(stream.streamId, asked)
        if (!found) return false
        for (const day of found) this.#addDay(day, { source, stream, covered })
        days += found.length + 1
        if (days < daysPerTurn) continue
        days = 0
        await nextTurn()
      }
    }
    for (const [totals, sum] of this.#sums) totals.sum += sum.value
    return true
  }

  #addDay({ dayUs, totals }: RollupDay, { source, stream, covered }: DayPlace): void {
    const { columns } = source.shape
    const layout = new DayLayout(columns)
    const parts = source.stored.flatMap((stored, index) =>
      stored ? [{ index, column: columns.indexOf(stored) }] : [],
    )
    for (const range of covered) {
      for (const halfHour of layout.halfHours(totals, dayUs, range)) {
        const point = this.#pointAt(halfHour, stream)
        if (point) this.#addHalfHour(point, halfHour, { layout, parts, totals })
      }
    }
  }

  #pointAt({ atUs }: KeptHalfHour, { series }: SelectedStream): PointTotals | undefined {
    const { question, selection } = this.#needs
    const { after, order } = question
    const bucketUs = this.#bucketOf(atUs)
    const isDone =
      after &&
      (order === 'ASC'
        ? bucketUs <= after.bucketUs && series <= after.series
        : bucketUs >= after.bucketUs && series >= after.series)
    return isDone
      ? undefined
      : totalsAt(this.#found, { bucketUs, series }, selection.columns.length)
  }

  #addHalfHour(
    point: PointTotals,
    { at, count }: KeptHalfHour,
    { layout, parts, totals: day }: HalfHourPlace,
  ): void {
    point.count += count
    for (const { index, column } of parts) {
      const totals = point.columns[index] as ColumnTotals
      const sum = layout.addTo(totals, day, { at, column })
      const known = this.#sums.get(totals) ?? new CarefulSum()
      this.#sums.set(totals, known)
      known.add(sum)
    }
  }

  /** Half hours come in ascending time, but for those of the next stream. */
  #bucketOf(atUs: number): number {
    const isIn = ({ startUs, endUs }: BucketRun) => atUs >= startUs && atUs < endUs
    const last = this.#runs[this.#run]
    if (!last || !isIn(last)) this.#run = this.#runs.findIndex(isIn)
    const { startUs, widthUs } = this.#runs[this.#run] as BucketRun
    return startUs + Math.floor((atUs - startUs) / widthUs) * widthUs
  }
}

interface DayPlace {
  readonly source: Source
  readonly stream: SelectedStream
  readonly covered: readonly Range[]
}

interface HalfHourPlace {
  readonly layout: DayLayout
  /** Columns of the selection, and where they are in the shape. */
  readonly parts: readonly { readonly index: number; readonly column: number }[]
  /** What is kept of the day. */
  readonly totals: Float64Array
}

/** Neumaier's summation: a month is the sum of 1,440 sums. */
class CarefulSum {
  #sum = 0
  #lost = 0

  add(value: number): void {
    const sum = this.#sum + value
    this.#lost +=
      Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - sum + value : value - sum + this.#sum
    this.#sum = sum
  }

  get value(): number {
    return this.#sum + this.#lost
  }
}
