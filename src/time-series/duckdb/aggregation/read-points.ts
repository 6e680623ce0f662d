import type { DuckDBConnection } from '@duckdb/node-api'
import type { AggregatedField, AggregatePoint, AggregateQuery } from '../../aggregate-query.ts'
import type {
  OutermostValues,
  PointReader,
  Position,
  Range,
} from '../../aggregation/point-reader.ts'
import { resultType } from '../../aggregation/united-fields.ts'
import type { KnownValue } from '../../fill.ts'
import { type Row, toJson } from '../../point-values.ts'
import { type Catalog } from '../catalog.ts'
import { startOfMonthUs } from '../months.ts'
import { rowsOf } from '../rows-of.ts'
import { type Summation } from './functions.ts'
import { rolledUpPointsSql } from './rolled-up-points.ts'
import { pointsSql } from './rows.ts'
import type { Selection } from './selection.ts'

/** Reads chunks of a selection. */
export class DuckDbPointReader implements PointReader {
  readonly #connection: DuckDBConnection
  readonly #catalog: Catalog
  readonly #selection: Selection
  readonly stretches: readonly Range[]

  constructor(connection: DuckDBConnection, catalog: Catalog, selection: Selection) {
    this.#connection = connection
    this.#catalog = catalog
    this.#selection = selection
    this.stretches = selection.tables.map(({ month }) => ({
      fromUs: startOfMonthUs(month),
      toUs: startOfMonthUs(month + 1),
    }))
  }

  get query(): AggregateQuery {
    return this.#selection.query
  }

  get fields(): readonly AggregatedField[] {
    return this.#selection.fields
  }

  async points(range: Range, limit: number, after?: Position): Promise<AggregatePoint[]> {
    const { fields, query } = this
    const later = after ? `WHERE "$bucket" > ${after.bucketUs} OR "$series" > ${after.series}` : ''
    const rowsFrom = async (points: string) =>
      await rowsOf(
        this.#connection,
        `SELECT * FROM (${points}) ${later} ORDER BY "$bucket", "$series" LIMIT ${limit}`,
      )
    const rows = await this.#rows(range, rowsFrom)
    return rows.map((row) => ({
      timestampUs: Number(row['$bucket']),
      series: query.series[Number(row['$series'])]?.key ?? '',
      count: Number(row['$count']),
      values: valuesOf(row, fields),
    }))
  }

  /** Out of rollups, as far as they tell, and else out of the readings: with plain sums, where these are finite. */
  async #rows(range: Range, rowsFrom: (points: string) => Promise<Row[]>): Promise<Row[]> {
    const rolledUp = rolledUpPointsSql(this.#catalog, this.#selection, range)
    if (rolledUp !== undefined) {
      const rows = await rowsFrom(rolledUp)
      if (rows.every((row) => row['$isFinite'] === true)) return rows
    }
    const points = (summation: Summation) =>
      pointsSql(this.#catalog, this.#selection, { ...range, summation })
    const rows = await rowsFrom(points('plain'))
    return areSumsFinite(rows, this.fields) ? rows : await rowsFrom(points('scaled'))
  }

  async outermost(
    range: Range,
    fields: readonly number[],
    end: 'last' | 'first',
  ): Promise<OutermostValues> {
    const [pick, edge] = end === 'last' ? ['arg_max', 'max'] : ['arg_min', 'min']
    const list = fields.map(
      (index) => `, ${pick}("$${index}", "$bucket") AS "$${index}",
        ${edge}("$bucket") FILTER ("$${index}" IS NOT NULL) AS "$at${index}"`,
    )
    const rows = await rowsOf(
      this.#connection,
      `SELECT "$series"${list.join('')}
       FROM (${pointsSql(this.#catalog, this.#selection, { ...range, summation: 'scaled' })})
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
