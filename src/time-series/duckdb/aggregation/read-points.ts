import type { DuckDBConnection } from '@duckdb/node-api'
import type { AggregatedField, AggregatePoint } from '../../aggregate-query.ts'
import type { KnownValue } from '../../fill.ts'
import { type Catalog, rowsOf } from '../catalog.ts'
import { type Row, toJson } from '../point-values.ts'
import { resultType } from './functions.ts'
import { type Chunk, pointsSql } from './rows.ts'
import type { Selection } from './selection.ts'

/** Reads chunks of a selection. */
export class PointReader {
  readonly #connection: DuckDBConnection
  readonly #catalog: Catalog
  readonly selection: Selection

  constructor(connection: DuckDBConnection, catalog: Catalog, selection: Selection) {
    this.#connection = connection
    this.#catalog = catalog
    this.selection = selection
  }

  /** At most `limit` points of a chunk in the order of the query, of those after a position. */
  async points(chunk: Chunk, limit: number, after?: Position): Promise<AggregatePoint[]> {
    const { fields, query } = this.selection
    const later = after ? `WHERE "$bucket" > ${after.bucketUs} OR "$series" > ${after.series}` : ''
    const rows = await rowsOf(
      this.#connection,
      `SELECT * FROM (${pointsSql(this.#catalog, this.selection, chunk)}) ${later}
       ORDER BY "$bucket", "$series" LIMIT ${limit}`,
    )
    return rows.map((row) => ({
      timestampUs: Number(row['$bucket']),
      series: query.series[Number(row['$series'])]?.key ?? '',
      count: Number(row['$count']),
      values: valuesOf(row, fields),
    }))
  }

  /** The last, or first, value in a chunk by the index of the series and of each field asked for. */
  async outermost(
    chunk: Chunk,
    fields: readonly number[],
    end: 'last' | 'first',
  ): Promise<ReadonlyMap<number, ReadonlyMap<number, KnownValue>>> {
    const [pick, edge] = end === 'last' ? ['arg_max', 'max'] : ['arg_min', 'min']
    const list = fields.map(
      (index) => `, ${pick}("$${index}", "$bucket") AS "$${index}",
        ${edge}("$bucket") FILTER ("$${index}" IS NOT NULL) AS "$at${index}"`,
    )
    const rows = await rowsOf(
      this.#connection,
      `SELECT "$series"${list.join('')}
       FROM (${pointsSql(this.#catalog, this.selection, chunk)}) GROUP BY "$series"`,
    )
    return new Map(rows.map((row) => [Number(row['$series']), this.#knownOf(row, fields)]))
  }

  #knownOf(row: Row, fields: readonly number[]): ReadonlyMap<number, KnownValue> {
    const known = new Map<number, KnownValue>()
    for (const index of fields) {
      const value = row[`$${index}`]
      if (value === null || value === undefined) continue
      const type = resultType(this.selection.fields[index] as AggregatedField)
      const timestampUs = Number(row[`$at${index}`])
      known.set(index, { timestampUs, value: toJson(value, type) })
    }
    return known
  }
}

/** Where a page begins: behind the point of this series in this bucket. */
export interface Position {
  readonly bucketUs: number
  /** The index of the series. */
  readonly series: number
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
