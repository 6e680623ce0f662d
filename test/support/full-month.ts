import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { preload } from './preload.ts'

export const fullMonthSchema = { temperature: { type: 'number' } }

/**
 * Fills an empty data folder with so many readings of January 2026 that late ones of this schema are not looked up
 * at once. They are those of one stream, up to the 25th.
 */
export async function fillMonth(dataDir: string): Promise<void> {
  await preload(dataDir, {
    streams: 1,
    schema: fullMonthSchema,
    fields: { temperature: 'i' },
    rows: 2_100_000,
    startUs: Date.UTC(2026, 0, 1) * 1_000,
    stepUs: 1_000_000,
  })
  // The state knows nothing of them, so neither may the counts.
  const instance = await DuckDBInstance.create(join(dataDir, 'time-series.duckdb'))
  const connection = await instance.connect()
  await connection.run('DELETE FROM stream_counts WHERE received = 2_100_000')
  connection.closeSync()
  instance.closeSync()
}

/** The newest reading of a stream of that month, and older ones. */
export const newestOfMonth = { timestamp: '2026-01-31T00:00:00Z', temperature: 0 }

export const lateOfMonth = Array.from({ length: 40 }, (_, index) => ({
  timestamp: new Date(Date.UTC(2026, 0, 30) + index * 1_000).toISOString(),
  temperature: index,
}))
