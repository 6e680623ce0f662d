import type { AggregatedField, AggregatePoint, AggregateQuery } from '../../../aggregate-query.ts'
import type { PageRoom } from '../../../aggregation/page-room.ts'
import type {
  OutermostValues,
  PointReader,
  PointsPlace,
  Position,
  Range,
} from '../../../aggregation/point-reader.ts'
import { isText } from '../../../aggregation/united-fields.ts'
import { bucketRuns, nextBucketUs, usualWidthUs } from '../../../bucket-runs.ts'
import type { ReadSession } from '../session.ts'
import { piecesOf } from '../statement.ts'
import { EdgeValues } from './edges.ts'
import { firstUsOf } from './first-reading.ts'
import { OutermostFields } from './outermost-fields.ts'
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

export interface QuestDbPointReaderNeeds {
  readonly session: ReadSession
  readonly selection: Selection
  readonly stretches: readonly Range[]
}

/** Reads the points of one query: what QuestDB can compute exactly from it, and the rest from readings. */
export class QuestDbPointReader implements PointReader {
  readonly #needs: QuestDbPointReaderNeeds
  readonly stretches: readonly Range[]

  private constructor(needs: QuestDbPointReaderNeeds) {
    this.#needs = needs
    this.stretches = needs.stretches
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
    return new QuestDbPointReader({ session, selection, stretches })
  }

  get query(): AggregateQuery {
    return this.#needs.selection.query
  }

  get fields(): readonly AggregatedField[] {
    return this.#needs.selection.fields
  }

  async points(
    range: Range,
    room: PageRoom,
    { after, order: direction }: PointsPlace = {},
  ): Promise<AggregatePoint[]> {
    const order = direction === 'desc' ? 'DESC' : 'ASC'
    const { session, selection } = this.#needs
    const hasTexts = this.fields.some(isText)
    const points: AggregatePoint[] = []
    for (const part of this.#parts(range, order)) {
      const question = { range: part, limit: room.wanted, order, after } as const
      const found = await this.#totals(question)
      const texts = hasTexts
        ? await EdgeValues.measure(session, selection, found)
        : found.map(() => 0)
      const fitting = found.slice(0, room.take(texts))
      for (const point of await this.#valued(selection, fitting, question)) points.push(point)
      if (room.isFull) break
    }
    return points
  }

  async outermost(
    range: Range,
    fields: readonly number[],
    end: 'last' | 'first',
  ): Promise<OutermostValues> {
    const order = end === 'last' ? 'DESC' : 'ASC'
    const found = new OutermostFields(this.#needs.selection, fields)
    for (const part of this.#parts(range, order)) {
      await this.#look(found, part, order)
      if (found.isComplete) break
    }
    return found.values
  }

  async #look(found: OutermostFields, range: Range, order: 'ASC' | 'DESC'): Promise<void> {
    const { series, buckets } = this.query
    // More than one bucket can have, so that each look gets on.
    const limit = Math.max(pointsPerLook, 2 * series.length)
    for (let left = range; ; ) {
      const question = { range: left, limit, order } as const
      const totals = await this.#totals(question)
      const points = await this.#valued(found.selection, found.telling(totals), question)
      for (const point of points) found.add(point)
      const last = totals.at(-1)
      if (last === undefined || totals.length < limit || found.isComplete) return
      left =
        order === 'DESC'
          ? { ...left, toUs: Math.min(left.toUs, nextBucketUs(buckets, last.bucketUs)) }
          : { ...left, fromUs: Math.max(left.fromUs, last.bucketUs) }
    }
  }

  /** The range in parts whose buckets a statement can name. */
  #parts(range: Range, order: 'ASC' | 'DESC'): readonly Range[] {
    const runs = bucketRuns(this.query.buckets, range.fromUs, range.toUs)
    const parts = piecesOf(runs, runsPerStatement).map((some) => ({
      fromUs: Math.max(range.fromUs, some[0]?.startUs ?? 0),
      toUs: Math.min(range.toUs, some.at(-1)?.endUs ?? 0),
    }))
    return order === 'ASC' ? parts : parts.toReversed()
  }

  async #totals(question: PointsQuestion): Promise<readonly PointTotals[]> {
    const { session, selection } = this.#needs
    const asked = { after: undefined, ...question, scale: plain }
    return (
      (await readRolledUpTotals(session, selection, asked)) ??
      (await readTotals(session, selection, asked))
    )
  }

  /** Some of the points that were found, with values. */
  async #valued(
    selection: Selection,
    totals: readonly PointTotals[],
    question: PointsQuestion,
  ): Promise<AggregatePoint[]> {
    const { session } = this.#needs
    const values = new PointValues(selection, {
      edges: await EdgeValues.read(session, selection, totals),
      rows: await RowValues.read(session, selection, totals),
      scaled: await this.#scaledTotals(totals, { after: undefined, ...question, scale: plain }),
    })
    return totals.map((point) => ({
      timestampUs: point.bucketUs,
      series: this.query.series[point.series]?.key ?? '',
      count: point.count,
      values: values.of(point),
    }))
  }

  /** Reads the totals anew, scaled down, if some of the plain ones are too large. */
  async #scaledTotals(
    totals: readonly PointTotals[],
    question: TotalsQuestion,
  ): Promise<readonly PointTotals[]> {
    const { session, selection } = this.#needs
    const isTooLarge = totals.some(({ columns }) =>
      columns.some(({ sum, squares }) => !(Number.isFinite(sum) && Number.isFinite(squares))),
    )
    if (!isTooLarge) return []
    return await readTotals(session, selection, { ...question, scale: scaledDown })
  }
}
