import type { DuckDBConnection } from '@duckdb/node-api'
import type { ShippedReading } from '../../shipment.ts'
import type { StreamGroup } from '../../stream-groups.ts'
import { type Catalog, createReadingsTable, type StreamRecord } from '../catalog.ts'
import { noteShape } from '../shipment-rows.ts'
import type { StreamRows } from '../table-rows.ts'
import type { LateTable, LateTables } from './late-tables.ts'

/** Readings of one stream that wait in one table. */
export interface LateRows extends StreamRows {
  readonly late: LateTable
}

/** The parts of a shipment that have to wait, by stream and table. */
export function lateRowsOf(
  lateTables: LateTables,
  groups: readonly StreamGroup<StreamRecord>[],
  late: ReadonlySet<ShippedReading>,
): readonly LateRows[] {
  if (late.size === 0) return []
  return groups.flatMap(({ record, readings, redriven }) => {
    const own = readings.filter((reading) => late.has(reading))
    const byTable = Map.groupBy(own, (reading) =>
      lateTables.tableFor(reading.shape.id, redriven.has(reading)),
    )
    return [...byTable].map(([table, some]) => ({ late: table, record, readings: some }))
  })
}

/** What is left of the groups without what has to wait. */
export function withoutLate(
  groups: readonly StreamGroup<StreamRecord>[],
  late: ReadonlySet<ShippedReading>,
): readonly StreamGroup<StreamRecord>[] {
  if (late.size === 0) return groups
  return groups.map((group) => ({
    ...group,
    readings: group.readings.filter((reading) => !late.has(reading)),
  }))
}

/** Makes the tables that late readings need and that are not there yet. */
export async function createLateTables(
  connection: DuckDBConnection,
  { catalog, lateTables }: { readonly catalog: Catalog; readonly lateTables: LateTables },
  rows: readonly LateRows[],
): Promise<void> {
  for (const { late, readings } of rows) {
    if (lateTables.knows(late)) continue
    const { shape } = readings[0] as ShippedReading
    await noteShape(connection, catalog, shape)
    await connection.run(createReadingsTable(late.name, shape))
    lateTables.made(late)
  }
}
