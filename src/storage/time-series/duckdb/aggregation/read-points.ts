import type { DuckDBConnection } from '@duckdb/node-api'
import type { AggregatedField, AggregatePoint, AggregateQuery } from '../../aggregate-query.ts'
import type { PageRoom } from '../../aggregation/page-room.ts'
import type {
  OutermostValues,
  PointReader,
  PointsPlace,
  Position,
  Range,
} from '../../aggregation/point-reader.ts'
import { resultType } from '../../aggregation/united-fields.ts'
import { nextBucketUs } from '../../bucket-runs.ts'
import type { KnownValue } from '../../fill.ts'
import { type Row, toJson } from '../../point-values.ts'
import type { TimeOrder } from '../../readings-query.ts'
import { type Catalog } from '../catalog.ts'
import { startOfMonthUs } from '../months.ts'
import { rowsOf } from '../rows-of.ts'
import { type Summation } from './functions.ts'
import { rolledUpPointsSql } from './rolled-up-points.ts'
import { pointsSql } from './rows.ts'
import { type Selection, withTextsMeasured } from './selection.ts'

interface AskedRows {
  readonly range: Range
  readonly limit: number
  readonly after?: Position | undefined
  readonly order: TimeOrder
  /** The last one. */
  readonly upTo?: Position
}

export interface DuckDbPointReaderNeeds {
  readonly connection: DuckDBConnection
  readonly catalog: Catalog
  readonly selection: Selection
}

/** Reads chunks of a selection. */
export class DuckDbPointReader implements PointReader {
  readonly #needs: DuckDbPointReaderNeeds
  /** Nothing where no texts are asked for. */
  readonly #measured: Selection | undefined
  readonly stretches: readonly Range[]

  constructor(needs: DuckDbPointReaderNeeds) {
    this.#needs = needs
    const { selection } = needs
    this.#measured = withTextsMeasured(selection)
    this.stretches = selection.tables.map(({ month }) => ({
      fromUs: startOfMonthUs(month),
      toUs: startOfMonthUs(month + 1),
    }))
  }

  get query(): AggregateQuery {
    return this.#needs.selection.query
  }

  get fields(): readonly AggregatedField[] {
    return this.#needs.selection.fields
  }

  /** Points with texts are looked for twice: how long these are tells how many of them can be read. */
  async points(
    range: Range,
    room: PageRoom,
    { after, order = 'asc' }: PointsPlace = {},
  ): Promise<AggregatePoint[]> {
    const asked = { range, limit: room.wanted, after, order }
    const rows = this.#measured
      ? await this.#rowsWithTexts(this.#measured, asked, room)
      : await this.#firstRows(this.#needs.selection, asked)
    const fitting = this.#measured ? rows : rows.slice(0, room.take(rows.map(() => 0)))
    const { fields, query } = this
    return fitting.map((row) => ({
      timestampUs: Number(row['$bucket']),
      series: query.series[Number(row['$series'])]?.key ?? '',
      count: Number(row['$count']),
      values: valuesOf(row, fields),
    }))
  }

  async #rowsWithTexts(measured: Selection, asked: AskedRows, room: PageRoom): Promise<Row[]> {
    const sizes = await this.#firstRows(measured, asked)
    const count = room.take(sizes.map((row) => bytesOf(row, measured)))
    const last = sizes[count - 1]
    if (!last) return []
    const upTo = { bucketUs: Number(last['$bucket']), series: Number(last['$series']) }
    // What is behind the last one is not aggregated: all of it would be in memory.
    const { fromUs, toUs } = asked.range
    const range =
      asked.order === 'desc'
        ? { fromUs: Math.max(fromUs, upTo.bucketUs), toUs }
        : { fromUs, toUs: Math.min(toUs, nextBucketUs(this.query.buckets, upTo.bucketUs)) }
    return await this.#firstRows(this.#needs.selection, { ...asked, range, limit: count, upTo })
  }

  async #firstRows(
    selection: Selection,
    { range, limit, after, order, upTo }: AskedRows,
  ): Promise<Row[]> {
    const [behind, before] = order === 'desc' ? ['<', '>'] : ['>', '<']
    const conditions = [
      ...(after
        ? [`("$bucket" ${behind} ${after.bucketUs} OR "$series" ${behind} ${after.series})`]
        : []),
      ...(upTo
        ? [`("$bucket" ${before} ${upTo.bucketUs} OR "$series" ${before}= ${upTo.series})`]
        : []),
    ]
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
    const rowsFrom = async (points: string) =>
      await rowsOf(
        this.#needs.connection,
        `SELECT * FROM (${points}) ${where} ORDER BY "$bucket" ${order}, "$series" ${order} LIMIT ${limit}`,
      )
    return await this.#rows(selection, range, rowsFrom)
  }

  /** Out of rollups, as far as they tell, and else out of the readings: with plain sums, where these are finite. */
  async #rows(
    selection: Selection,
    range: Range,
    rowsFrom: (points: string) => Promise<Row[]>,
  ): Promise<Row[]> {
    const { catalog } = this.#needs
    const rolledUp = rolledUpPointsSql(catalog, selection, range)
    if (rolledUp !== undefined) {
      const rows = await rowsFrom(rolledUp)
      if (rows.every((row) => row['$isFinite'] === true)) return rows
    }
    const points = (summation: Summation) => pointsSql(catalog, selection, { ...range, summation })
    const rows = await rowsFrom(points('plain'))
    return areSumsFinite(rows, selection.fields) ? rows : await rowsFrom(points('scaled'))
  }

  async outermost(
    range: Range,
    fields: readonly number[],
    end: 'last' | 'first',
  ): Promise<OutermostValues> {
    const { connection, catalog, selection } = this.#needs
    const [pick, edge] = end === 'last' ? ['arg_max', 'max'] : ['arg_min', 'min']
    const list = fields.map(
      (index) => `, ${pick}("$${index}", "$bucket") AS "$${index}",
        ${edge}("$bucket") FILTER ("$${index}" IS NOT NULL) AS "$at${index}"`,
    )
    const rows = await rowsOf(
      connection,
      `SELECT "$series"${list.join('')}
       FROM (${pointsSql(catalog, selection, { ...range, summation: 'scaled' })})
       GROUP BY "$series"`,
    )
    return new Map(rows.map((row) => [Number(row['$series']), this.#knownOf(row, fields)]))
  }

  #knownOf(row: Row, fields: readonly number[]): ReadonlyMap<number, KnownValue> {
    const known = new Map<number, KnownValue>()
    for (const index of fields) {
      const value = row[`$${index}`]
      if (value === null || value === undefined) continue
      const type = resultType(this.fields[index] as AggregatedField)
      const timestampUs = Number(row[`$at${index}`])
      known.set(index, { timestampUs, value: toJson(value, type) })
    }
    return known
  }
}

/** The bytes of all texts of a point. */
function bytesOf(row: Row, { fields }: Selection): number {
  return fields.reduce((sum, _, index) => sum + Number(row[`$${index}`] ?? 0), 0)
}

/** Values are finite: what is not was lost while they were added up. */
function areSumsFinite(rows: readonly Row[], fields: readonly AggregatedField[]): boolean {
  const names = fields.flatMap(({ function: name }, index) =>
    name === 'avg' || name === 'sum' ? [`$${index}`] : [],
  )
  return rows.every((row) =>
    names.every((name) => row[name] === null || Number.isFinite(row[name])),
  )
}

function valuesOf(row: Row, fields: readonly AggregatedField[]): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [index, field] of fields.entries()) {
    const value = row[`$${index}`]
    if (value === null || value === undefined) continue
    values[field.key] = toJson(value, resultType(field))
  }
  return values
}
