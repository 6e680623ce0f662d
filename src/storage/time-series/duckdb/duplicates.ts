import type { DuckDBConnection } from '@duckdb/node-api'
import type { ShippedReading } from '../shipment.ts'
import { isRising, type StreamGroup } from '../stream-groups.ts'
import { appendColumns } from './append.ts'
import { type Catalog, quoted, type StreamRecord, tableName } from './catalog.ts'
import { IntegerColumn, TimestampColumn, UnsignedBigIntColumn } from './columns.ts'
import type { LateTables } from './late/late-tables.ts'
import { monthOf } from './months.ts'
import { rowsOf } from './rows-of.ts'

/** Table of one connection that holds the readings to be looked up. */
const probeDdl = `CREATE OR REPLACE TEMP TABLE probe (
  row INTEGER, "streamId" INTEGER, "timestamp" TIMESTAMP, digest UBIGINT)`

/**
 * Rows of a month that may be read for every shipment, about: with more of them what is late waits until
 * there is more of it.
 */
export const lookUpRowsMax = 2_000_000

export interface Examined {
  /** Readings that are stored already, or stand in the shipment twice. */
  readonly duplicates: ReadonlySet<ShippedReading>
  /** Readings that have to wait until they are looked up. */
  readonly late: ReadonlySet<ShippedReading>
}

export interface Known {
  readonly catalog: Catalog
  readonly lateTables: LateTables
  readonly lookUpRowsMax: number
}

interface Suspect {
  readonly reading: ShippedReading
  readonly group: StreamGroup<StreamRecord>
}

/**
 * Tells what of a shipment is stored already or stands in it twice
 * (decisions.md#identity-of-a-reading), and of what that is not known yet.
 *
 * A live device sends rising times, and what is newer than all that is stored of its stream needs
 * no look-up. Only the others are looked up, in the months that they fall into.
 */
export async function examine(
  connection: DuckDBConnection,
  known: Known,
  groups: readonly StreamGroup<StreamRecord>[],
): Promise<Examined> {
  const duplicates = new Set<ShippedReading>()
  const late = new Set<ShippedReading>()
  const suspects: Suspect[] = []
  for (const group of groups) {
    if (isRising(group)) continue
    const seen = new Set<string>()
    for (const reading of group.readings) {
      const key = `${reading.timestampUs} ${reading.digest}`
      if (seen.has(key)) duplicates.add(reading)
      else if (reading.timestampUs <= group.record.timestampMaxUs) {
        if (hasToWait(known, group, reading)) late.add(reading)
        else suspects.push({ reading, group })
      }
      seen.add(key)
    }
  }
  for (const reading of await storedAlready(connection, known.catalog, suspects)) {
    duplicates.add(reading)
  }
  return { duplicates, late }
}

/** What comes after a reading that waits has to wait, too: it may be the same once more. */
function hasToWait(
  { catalog, lateTables, lookUpRowsMax: rowsMax }: Known,
  { record }: StreamGroup<StreamRecord>,
  { timestampUs }: ShippedReading,
): boolean {
  if (lateTables.has(record)) return true
  const month = monthOf(timestampUs)
  for (const shape of record.shapes) {
    const table = catalog.tables.get(tableName(shape, month))
    if (table && table.rows > rowsMax) return true
  }
  return false
}

async function storedAlready(
  connection: DuckDBConnection,
  catalog: Catalog,
  suspects: readonly Suspect[],
): Promise<ShippedReading[]> {
  if (suspects.length === 0) return []
  const count = suspects.length
  await connection.run(probeDdl)
  await appendColumns(connection, 'probe', [
    new IntegerColumn(count).fill(suspects.map((_, row) => row)),
    new IntegerColumn(count).fill(suspects.map(({ group }) => group.record.key)),
    new TimestampColumn(count).fill(suspects.map(({ reading }) => reading.timestampUs)),
    new UnsignedBigIntColumn(count).fill(suspects.map(({ reading }) => reading.digest)),
  ])
  const found: ShippedReading[] = []
  for (const { table, startUs, endUs } of placesOf(catalog, suspects)) {
    const rows = await rowsOf(
      connection,
      `SELECT p.row FROM probe p WHERE EXISTS (
         SELECT 1 FROM ${quoted(table)} r
         WHERE r."streamId" = p."streamId" AND r."timestamp" = p."timestamp"
           AND r."$digest" = p.digest
           AND r."timestamp" BETWEEN make_timestamp(${startUs}) AND make_timestamp(${endUs}))`,
    )
    for (const row of rows) {
      const suspect = suspects[Number(row['row'])]
      if (suspect) found.push(suspect.reading)
    }
  }
  return found
}

interface Place {
  readonly table: string
  startUs: number
  endUs: number
}

/** Where they could be stored: each table that their streams have rows in, and between which times. */
function placesOf(catalog: Catalog, suspects: readonly Suspect[]): Iterable<Place> {
  const places = new Map<string, Place>()
  for (const { reading, group } of suspects) {
    const { timestampUs } = reading
    for (const shape of group.record.shapes) {
      const slot = `${shape} ${monthOf(timestampUs)}`
      const place = places.get(slot)
      if (place) {
        place.startUs = Math.min(place.startUs, timestampUs)
        place.endUs = Math.max(place.endUs, timestampUs)
        continue
      }
      const table = catalog.tables.get(tableName(shape, monthOf(timestampUs)))
      if (table) places.set(slot, { table: table.name, startUs: timestampUs, endUs: timestampUs })
    }
  }
  return places.values()
}
