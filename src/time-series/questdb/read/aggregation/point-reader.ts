import type { AggregatedField, AggregatePoint, AggregateQuery } from '../../../aggregate-query.ts'
import type {
  OutermostValues,
  PointReader,
  Position,
  Range,
} from '../../../aggregation/point-reader.ts'
import { bucketRuns, nextBucketUs, usualWidthUs } from '../../../bucket-runs.ts'
import type { KnownValue } from '../../../fill.ts'
import type { ReadSession } from '../session.ts'
import { piecesOf } from '../statement.ts'
import { EdgeValues } from './edges.ts'
import { firstUsOf } from './first-reading.ts'
import { PointValues } from './point-values.ts'
import { type PointTotals, readTotals, type TotalsQuestion } from './read-totals.ts'
import { readRolledUpTotals } from './rolled-up-totals.ts'
import { RowValues } from './row-values.ts'
import type { Selection } from './selection.ts'
import { plain, scaledDown } from './totals.ts'

/** Runs of buckets of one statement, of 90 bytes each. */
const runsPerStatement = 60

/** Points that are looked through at a time for outermost values. */
const pointsPerLook = 1_000

/** Where a query has more buckets, it begins where its first reading is. */
const bucketsLookedThrough = 10_000

interface PointsQuestion {
  readonly range: Range
  readonly limit: number
  readonly order: 'ASC' | 'DESC'
  readonly after?: Position | undefined
}

/** Reads the points of one query: what QuestDB can compute exactly from it, and the rest from readings. */
export class QuestDbPointReader implements PointReader {
  readonly #session: ReadSession
  readonly #selection: Selection
  readonly stretches: readonly Range[]

  private constructor(session: ReadSession, selection: Selection, stretches: readonly Range[]) {
    this.#session = session
    this.#selection = selection
    this.stretches = stretches
  }

  static async open(session: ReadSession, selection: Selection): Promise<QuestDbPointReader> {
    const { query, endUs } = selection
    const range = { fromUs: query.startUs, toUs: Math.min(query.endUs, endUs) }
    const buckets = (range.toUs - range.fromUs) / usualWidthUs(query.buckets)
    const fromUs =
      buckets > bucketsLookedThrough
        ? await firstUsOf(session, selection.sources, range)
        : range.fromUs
    const stretches = fromUs < range.toUs ? [{ fromUs, toUs: range.toUs }] : []
    return new QuestDbPointReader(session, selection, stretches)
  }

  get query(): AggregateQuery {
    return this.#selection.query
  }

  get fields(): readonly AggregatedField[] {
    return this.#selection.fields
  }

  async points(range: Range, limit: number, after?: Position): Promise<AggregatePoint[]> {
    return await this.#read({ range, limit, order: 'ASC', after })
  }

  async outermost(
    range: Range,
    fields: readonly number[],
    end: 'last' | 'first',
  ): Promise<OutermostValues> {
    const { series, buckets } = this.query
    const order = end === 'last' ? 'DESC' : 'ASC'
    // More than one bucket can have, so that each look gets on.
    const limit = Math.max(pointsPerLook, 2 * series.length)
    const found = new OutermostFields(this.#selection, fields)
    for (let left = range; ; ) {
      const points = await this.#read({ range: left, limit, order })
      for (const point of points) found.add(point)
      const last = points.at(-1)
      if (last === undefined || points.length < limit || found.isComplete) return found.values
      left =
        end === 'last'
          ? { ...left, toUs: Math.min(left.toUs, nextBucketUs(buckets, last.timestampUs)) }
          : { ...left, fromUs: Math.max(left.fromUs, last.timestampUs) }
    }
  }

  async #read(question: PointsQuestion): Promise<AggregatePoint[]> {
    const points: AggregatePoint[] = []
    for (const range of this.#parts(question)) {
      const limit = question.limit - points.length
      if (limit <= 0) break
      points.push(...(await this.#readPart({ ...question, range, limit })))
    }
    return points
  }

  /** The range in parts whose buckets a statement can name. */
  #parts({ range, order }: PointsQuestion): readonly Range[] {
    const runs = bucketRuns(this.query.buckets, range.fromUs, range.toUs)
    const parts = piecesOf(runs, runsPerStatement).map((some) => ({
      fromUs: Math.max(range.fromUs, some[0]?.startUs ?? 0),
      toUs: Math.min(range.toUs, some.at(-1)?.endUs ?? 0),
    }))
    return order === 'ASC' ? parts : parts.toReversed()
  }

  async #readPart({ range, limit, order, after }: PointsQuestion): Promise<AggregatePoint[]> {
    const session = this.#session
    const selection = this.#selection
    const question = { range, limit, order, after, scale: plain }
    const totals =
      (await readRolledUpTotals(session, selection, question)) ??
      (await readTotals(session, selection, question))
    const values = new PointValues(selection, {
      edges: await EdgeValues.read(session, selection, totals),
      rows: await RowValues.read(session, selection, totals),
      scaled: await this.#scaledTotals(totals, question),
    })
    return totals.map((point) => ({
      timestampUs: point.bucketUs,
      series: this.query.series[point.series]?.key ?? '',
      count: point.count,
      values: values.of(point),
    }))
  }

  /** The same totals scaled down, if some of the plain ones are too large. */
  async #scaledTotals(
    totals: readonly PointTotals[],
    question: TotalsQuestion,
  ): Promise<readonly PointTotals[]> {
    const isTooLarge = totals.some(({ columns }) =>
      columns.some(({ sum, squares }) => !(Number.isFinite(sum) && Number.isFinite(squares))),
    )
    if (!isTooLarge) return []
    return await readTotals(this.#session, this.#selection, { ...question, scale: scaledDown })
  }
}

/** The first values that come of some fields, of each series. */
class OutermostFields {
  readonly #selection: Selection
  readonly #fields: readonly number[]
  readonly #series: ReadonlyMap<string, number>
  readonly values = new Map<number, Map<number, KnownValue>>()
  #found = 0

  constructor(selection: Selection, fields: readonly number[]) {
    this.#selection = selection
    this.#fields = fields
    this.#series = new Map(selection.query.series.map(({ key }, index) => [key, index]))
  }

  get isComplete(): boolean {
    return this.#found === this.#fields.length * this.#series.size
  }

  add({ series, timestampUs, values }: AggregatePoint): void {
    const index = this.#series.get(series) as number
    const own = this.values.get(index) ?? new Map<number, KnownValue>()
    this.values.set(index, own)
    for (const field of this.#fields) {
      const value = values[this.#selection.fields[field]?.key ?? '']
      if (value === undefined || own.has(field)) continue
      own.set(field, { timestampUs, value })
      this.#found++
    }
  }
}
