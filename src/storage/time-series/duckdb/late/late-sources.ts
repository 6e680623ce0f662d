import type { DuckDBConnection } from '@duckdb/node-api'
import { quoted, type StreamRecord } from '../catalog.ts'
import type { Contents } from '../contents.ts'
import { startOfMonthUs } from '../months.ts'
import type { Source } from '../raw-readings.ts'
import { rowsOf } from '../rows-of.ts'
import { type LateTable, lateTablesIn } from './late-tables.ts'

export type SeenTable = Pick<LateTable, 'name' | 'shape'>

/**
 * The late tables that a snapshot sees, for who reads what the store has taken up to a position: what waits
 * there was taken, too. The snapshot itself is asked when there may be any, because tables come and go with
 * the transactions of others.
 *
 * @param before what `lateMark` gave before the snapshot was made
 */
export async function lateTablesSeen(
  connection: DuckDBConnection,
  { late }: Contents,
  before: LateMark,
): Promise<readonly SeenTable[]> {
  if (before.isEmpty && before.late === late && before.revision === late.revision) return []
  return await lateTablesIn(connection)
}

type LateMark = Pick<Contents, 'late'> & { readonly isEmpty: boolean; readonly revision: number }

export function lateMark({ late }: Contents): LateMark {
  return { late, isEmpty: late.isEmpty, revision: late.revision }
}

/** Where a stream has late readings from a time on, by month; some of them may be stored already. */
export async function lateSourcesOf(
  connection: DuckDBConnection,
  { catalog }: Contents,
  {
    record,
    tables,
    startUs,
  }: {
    readonly record: StreamRecord
    readonly tables: readonly SeenTable[]
    readonly startUs: number
  },
): Promise<readonly Source[]> {
  const own = tables.filter(({ shape }) => record.shapes.has(shape))
  if (own.length === 0) return []
  const months = own.map(
    ({ name }, at) =>
      `SELECT DISTINCT ${at} AS at, year("timestamp") * 100 + month("timestamp") AS month
       FROM ${quoted(name)}
       WHERE "streamId" = ${record.key} AND "timestamp" >= make_timestamp(${startUs}::BIGINT)`,
  )
  const found = await rowsOf(connection, months.join(' UNION ALL '))
  return found.map((row) => {
    const { name: table, shape } = own[row['at'] as number] as SeenTable
    const columns = catalog.shapes.get(shape)?.columns ?? []
    const month = Number(row['month'])
    const time = { startUs: startOfMonthUs(month), endUs: startOfMonthUs(month + 1) }
    return { table, key: record.key, columns, isLate: true, ...time }
  })
}
