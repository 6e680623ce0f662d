import { systemClock } from '../src/core/clock.ts'
import type { AggregateQuery } from '../src/storage/time-series/aggregate-query.ts'
import { DuckDbFile } from '../src/storage/time-series/duckdb/duckdb-file.ts'
import { DuckDbStore } from '../src/storage/time-series/duckdb/duckdb-store.ts'
import { rowsOf } from '../src/storage/time-series/duckdb/rows-of.ts'
import { ship, storedReading } from '../test/support/stored-readings.ts'
import { TemporaryFolder } from '../test/support/temporary-folder.ts'

const readingsMeasured = 5_000_000
export const fromUs = Date.UTC(2026, 0, 1) * 1_000

/** A reading every half second, so that all are of one month. */
export const everyUs = 500_000

interface BeforeAndAfter {
  readonly before: number
  readonly after: number
}

/** How long averages of one stream take without rollups, and with them, in milliseconds. */
export async function measureRollups(
  median: (work: () => Promise<unknown>) => Promise<number>,
): Promise<{ readonly hourly: BeforeAndAfter; readonly daily: BeforeAndAfter }> {
  using folder = new TemporaryFolder()
  const path = folder.file('time-series.duckdb')
  await fill(path, readingsMeasured)
  const rollups = { readingsMin: 100_000, perRowMin: 30, quietMs: 0 }
  const store = await DuckDbStore.open(path, systemClock, { rollups })
  const measured = async () => ({
    hourly: await median(() => store.aggregate(averages('hour'))),
    daily: await median(() => store.aggregate(averages('day'))),
  })
  const before = await measured()
  while (await store.rollUp());
  const after = await measured()
  await store.close()
  return {
    hourly: { before: before.hourly, after: after.hourly },
    daily: { before: before.daily, after: after.daily },
  }
}

export function averages(unit: 'hour' | 'day'): AggregateQuery {
  return {
    series: [{ key: 'boiler', streamIds: ['boiler'] }],
    startUs: 0,
    endUs: Number.MAX_SAFE_INTEGER,
    buckets: { kind: 'calendar', unit, units: 1, zone: 'Europe/Berlin' },
    fields: [{ key: 'temperature', name: 'temperature', type: 'double', function: 'avg' }],
    fill: 'none',
    limit: 10_000,
    after: undefined,
  }
}

/** Adds readings as the shipper does: with their counts. */
export async function fill(path: string, readings: number): Promise<void> {
  const store = await DuckDbStore.open(path, systemClock)
  await ship(store, [storedReading({ timestampUs: fromUs })])
  await store.close()
  const file = await DuckDbFile.open(path)
  const { writer } = file
  const [table] = await rowsOf(
    writer,
    `SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'readings%'`,
  )
  await writer.run(`
    INSERT INTO "${String(table?.['name'])}" BY NAME
    SELECT 1 AS "streamId", make_timestamp(${fromUs} + i * ${everyUs}) AS "timestamp",
      make_timestamp(${fromUs}) AS "$receivedAt", hash(i) AS "$digest", 20 + random() AS temperature
    FROM range(1, ${readings}) t(i)`)
  await writer.run(`
    INSERT INTO stream_counts BY NAME
    SELECT 1 AS "streamId", ${readings} - 1 AS received, ${readings} - 1 AS stored, 0 AS duplicates,
      0 AS latency_us, 0 AS last_stored_at, ${fromUs + readings * everyUs} AS timestamp_max`)
  await writer.run('CHECKPOINT')
  await file.close()
}
