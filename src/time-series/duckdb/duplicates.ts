import { type DuckDBConnection, INTEGER, TIMESTAMP, UBIGINT } from '@duckdb/node-api'
import type { StoredReading } from '../time-series-store.ts'
import { appendColumns, timestampValue } from './append.ts'
import { type Catalog, monthOf, quoted, rowsOf } from './catalog.ts'

/** Table of one connection that holds the readings to be looked up. */
const probeDdl = `CREATE OR REPLACE TEMP TABLE probe (
  row INTEGER, "streamId" INTEGER, "timestamp" TIMESTAMP, digest UBIGINT)`

/**
 * Rows of a shipment that are stored already or stand in it twice (D18).
 *
 * A live device sends rising times, and what is newer than all that is stored of its stream needs
 * no look-up. Only the others are looked up, in the months that they fall into.
 */
export async function findDuplicates(
  connection: DuckDBConnection,
  catalog: Catalog,
  readings: readonly StoredReading[],
): Promise<ReadonlySet<number>> {
  const duplicates = new Set<number>()
  if (allRising(catalog, readings)) return duplicates
  const seen = new Set<string>()
  const suspects: number[] = []
  readings.forEach((reading, row) => {
    const key = `${reading.streamId} ${reading.timestampUs} ${reading.digest}`
    if (seen.has(key)) duplicates.add(row)
    else if (reading.timestampUs <= storedMaxUs(catalog, reading)) suspects.push(row)
    seen.add(key)
  })
  for (const row of await storedAlready(connection, catalog, { readings, suspects })) {
    duplicates.add(row)
  }
  return duplicates
}

/** True when each reading is newer than all of its stream before it, stored or in the shipment. */
function allRising(catalog: Catalog, readings: readonly StoredReading[]): boolean {
  const newest = new Map<string, number>()
  return readings.every((reading) => {
    const { streamId, timestampUs } = reading
    const isRising = timestampUs > (newest.get(streamId) ?? storedMaxUs(catalog, reading))
    newest.set(streamId, timestampUs)
    return isRising
  })
}

function storedMaxUs(catalog: Catalog, { streamId }: StoredReading): number {
  return catalog.streams.get(streamId)?.timestampMaxUs ?? -1
}

interface Suspicion {
  readonly readings: readonly StoredReading[]
  readonly suspects: readonly number[]
}

async function storedAlready(
  connection: DuckDBConnection,
  catalog: Catalog,
  { readings, suspects }: Suspicion,
): Promise<number[]> {
  if (suspects.length === 0) return []
  const chosen = suspects.map((row) => readings[row] as StoredReading)
  await connection.run(probeDdl)
  await appendColumns(
    connection,
    'probe',
    [INTEGER, INTEGER, TIMESTAMP, UBIGINT],
    [
      [...suspects],
      chosen.map(({ streamId }) => catalog.stream(streamId).key),
      chosen.map(({ timestampUs }) => timestampValue(timestampUs)),
      chosen.map(({ digest }) => digest),
    ],
  )
  const found: number[] = []
  for (const { table, startUs, endUs } of placesOf(catalog, chosen)) {
    const rows = await rowsOf(
      connection,
      `SELECT p.row FROM probe p WHERE EXISTS (
         SELECT 1 FROM ${quoted(table)} r
         WHERE r."streamId" = p."streamId" AND r."timestamp" = p."timestamp"
           AND r."$digest" = p.digest
           AND r."timestamp" BETWEEN make_timestamp(${startUs}) AND make_timestamp(${endUs}))`,
    )
    for (const row of rows) found.push(Number(row['row']))
  }
  return found
}

interface Place {
  readonly table: string
  startUs: number
  endUs: number
}

/** Where the readings could be stored: each table that their streams have rows in, and the times. */
function placesOf(catalog: Catalog, readings: readonly StoredReading[]): Iterable<Place> {
  const places = new Map<string, Place>()
  for (const { streamId, timestampUs } of readings) {
    for (const shape of catalog.stream(streamId).shapes) {
      const slot = `${shape} ${monthOf(timestampUs)}`
      const place = places.get(slot)
      if (place) {
        place.startUs = Math.min(place.startUs, timestampUs)
        place.endUs = Math.max(place.endUs, timestampUs)
        continue
      }
      const [table] = catalog.tablesOf(shape, timestampUs, timestampUs + 1)
      if (table) places.set(slot, { table: table.name, startUs: timestampUs, endUs: timestampUs })
    }
  }
  return places.values()
}
