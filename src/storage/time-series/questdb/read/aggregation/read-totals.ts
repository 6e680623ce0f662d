import type { Position, Range } from '../../../aggregation/point-reader.ts'
import { bucketRuns } from '../../../bucket-runs.ts'
import { literal } from '../../layout.ts'
import { type Row, selectedField } from '../field-values.ts'
import type { ReadSession } from '../session.ts'
import { ofStreams, piecesOf, within } from '../statement.ts'
import { bucketSql } from './bucket.ts'
import { type Selection, type Source, splitSeriesOf } from './selection.ts'
import { type ColumnTotals, noTotals, type Scale, TotalsOfColumn } from './totals.ts'

/** The totals of one point, by the index of the column. */
export interface PointTotals {
  readonly bucketUs: number
  readonly series: number
  count: number
  readonly columns: readonly ColumnTotals[]
}

/** Which points are wanted: the first ones of a range in ascending or descending order. */
export interface TotalsQuestion {
  readonly range: Range
  readonly limit: number
  readonly order: 'ASC' | 'DESC'
  readonly after: Position | undefined
  readonly scale: Scale
}

/** Columns of one statement: each may take half a kilobyte of it. */
const columnsPerStatement = 20

/**
 * The totals of the first points of a range, in their order.
 *
 * Each statement gives the first so many points of its own streams; the first so many of them all are
 * among these, and are complete.
 */
export async function readTotals(
  session: ReadSession,
  selection: Selection,
  question: TotalsQuestion,
): Promise<PointTotals[]> {
  const found: FoundTotals = new Map()
  await addTotals(found, session, { selection, question })
  return firstOf(found, question)
}

/** By bucket and series. */
export type FoundTotals = Map<string, PointTotals>

/** Adds the totals of the first points of a range to what there is. */
export async function addTotals(
  found: FoundTotals,
  session: ReadSession,
  { selection, question }: { readonly selection: Selection; readonly question: TotalsQuestion },
): Promise<void> {
  const indices = selection.columns.map((_, index) => index)
  // Without columns, points are counted all the same.
  const pieces = indices.length === 0 ? [[]] : piecesOf(indices, columnsPerStatement)
  for (const source of selection.sources) {
    for (const [piece, columns] of pieces.entries()) {
      const statement = new TotalsStatement({ selection, source, question, columns })
      for (const row of await session.rows(statement.sql(session))) {
        statement.addTo(found, row, piece === 0)
      }
    }
  }
}

/** The totals of a point, which may be without any yet. */
export function totalsAt(
  found: FoundTotals,
  { bucketUs, series }: Pick<PointTotals, 'bucketUs' | 'series'>,
  columns: number,
): PointTotals {
  const key = `${bucketUs} ${series}`
  const known = found.get(key)
  if (known) return known
  const totals = Array.from({ length: columns }, noTotals)
  const point = { bucketUs, series, count: 0, columns: totals }
  found.set(key, point)
  return point
}

/** The first points, in their order: of each part that was added, the first so many have to be among them. */
export function firstOf(found: FoundTotals, { order, limit }: TotalsQuestion): PointTotals[] {
  const direction = order === 'ASC' ? 1 : -1
  return [...found.values()]
    .sort((left, right) => {
      return direction * (left.bucketUs - right.bucketUs || left.series - right.series)
    })
    .slice(0, limit)
}

interface StatementNeeds {
  readonly selection: Selection
  readonly source: Source
  readonly question: TotalsQuestion
  readonly columns: readonly number[]
}

/** The series that readings of a source can belong to, or some of them when they are several. */
function seriesOf({ split }: Selection, source: Source): ReadonlySet<number> {
  if (!split) return new Set([...source.streams.values()].map((stream) => stream.series))
  if (source.storedSplit) return new Set(split.series.values())
  return new Set([splitSeriesOf(split, undefined, undefined)])
}

/** Some columns of one source. */
class TotalsStatement {
  readonly #needs: StatementNeeds
  readonly #parts: readonly (readonly [index: number, totals: TotalsOfColumn])[]
  /** The only series that the streams belong to, if there is one. */
  readonly #series: number | undefined

  constructor(needs: StatementNeeds) {
    this.#needs = needs
    const { columns, selection, source, question } = needs
    this.#parts = columns.flatMap((index) => {
      const column = selection.columns[index]
      const stored = source.stored[index]
      if (!(column && stored)) return []
      const named = selection.fields.filter(({ name }) => name === column.name)
      const functions = new Set(named.map((field) => field.function))
      const { scale } = question
      return [[index, new TotalsOfColumn({ column, stored, functions, scale })] as const]
    })
    const series = seriesOf(selection, source)
    this.#series = series.size === 1 ? [...series][0] : undefined
  }

  sql(session: ReadSession): string {
    const { selection, source, question } = this.#needs
    const { range, order, after } = question
    const { streams, shape } = source
    const runs = bucketRuns(selection.query.buckets, range.fromUs, range.toUs)
    const values = this.#parts.flatMap(([, { sql }]) => sql)
    const keys = this.#series === undefined ? 'b, s' : 'b'
    const series = this.#series === undefined ? `, ${this.#seriesSql()} AS s` : ''
    const named = values.map((value, index) => `, ${value} AS v${index}`)
    const points = `SELECT ${bucketSql(runs)} AS b${series}, count() AS n${named.join('')}
      FROM ${session.tableOf(shape).name}
      WHERE ${ofStreams([...streams.keys()])} AND ${within(range)} AND ${session.visible}
      GROUP BY ${keys}`
    const sorted = (this.#isByValue ? ['b'] : keys.split(', '))
      .map((key) => `${key} ${order}`)
      .join(', ')
    return `SELECT * FROM (${points}) ${this.#laterSql(after)} ORDER BY ${sorted} LIMIT ${this.#limit}`
  }

  /** Whether rows have values in place of series, whose order QuestDB does not know. */
  get #isByValue(): boolean {
    return this.#needs.selection.split !== undefined && this.#series === undefined
  }

  /**
   * Points by their values come in the order of buckets only: so many more that the ones asked for are among them, also
   * when those of the first bucket are behind the position, and the last bucket is cut.
   */
  get #limit(): number {
    const { question, selection } = this.#needs
    return question.limit + (this.#isByValue ? 2 * selection.query.series.length : 0)
  }

  addTo(found: FoundTotals, row: Row, isFirst: boolean): void {
    const bucketUs = Number(row[0])
    const series = this.#series ?? this.#seriesAt(row[1])
    if (this.#isByValue && !this.#isLater(bucketUs, series)) return
    const point = totalsAt(found, { bucketUs, series }, this.#needs.selection.columns.length)
    let at = this.#series === undefined ? 2 : 1
    if (isFirst) point.count += Number(row[at])
    at += 1
    for (const [index, totals] of this.#parts) {
      const end = at + totals.sql.length
      totals.add(point.columns[index] as ColumnTotals, row.slice(at, end))
      at = end
    }
  }

  #seriesAt(cell: unknown): number {
    const { selection, source } = this.#needs
    return selection.split ? splitSeriesOf(selection.split, cell, source.storedSplit) : Number(cell)
  }

  #isLater(bucketUs: number, series: number): boolean {
    const { after, order } = this.#needs.question
    if (!after || bucketUs !== after.bucketUs) return true
    return order === 'ASC' ? series > after.series : series < after.series
  }

  #seriesSql(): string {
    const { storedSplit } = this.#needs.source
    if (storedSplit) return selectedField(storedSplit)
    const branches = [...this.#needs.source.streams.values()].map(
      ({ streamId, series }) => `WHEN ${literal(streamId)} THEN ${series}`,
    )
    return `CASE "streamId" ${branches.join(' ')} END`
  }

  #laterSql(after: Position | undefined): string {
    if (!after) return ''
    const isUp = this.#needs.question.order === 'ASC'
    const behind = isUp ? '>' : '<'
    const isBucketBehind = `b ${behind} ${after.bucketUs}`
    if (this.#isByValue) return `WHERE b ${behind}= ${after.bucketUs}`
    if (this.#series === undefined) return `WHERE ${isBucketBehind} OR s ${behind} ${after.series}`
    const isBehind = isUp ? this.#series > after.series : this.#series < after.series
    return isBehind ? '' : `WHERE ${isBucketBehind}`
  }
}
