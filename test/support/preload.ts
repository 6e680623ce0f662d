import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { monthOf, startOfMonthUs } from '../../src/storage/time-series/duckdb/months.ts'
import { ApiClient } from './api-client.ts'
import { startServiceProcess } from './service-process.ts'

/** Rows of one statement: what it holds in memory stays small. */
const rowsAtOnce = 1_000_000

/** Readings as they would be in a folder that has been in use for a while. */
export interface Preloading {
  /** How many streams, new and of one schema: they take turns. */
  readonly streams: number
  readonly schema: object
  /** An SQL expression for each field of the schema, over the number of the reading, `i`. */
  readonly fields: Readonly<Record<string, string>>
  readonly rows: number
  /** The time of the first reading. */
  readonly startUs: number
  /** From one reading to the next. */
  readonly stepUs: number
}

/**
 * Fills an empty data folder, past the service: it makes the streams and their tables, and the engine
 * under it the rows. Returns the ids of the streams.
 */
export async function preload(dataDir: string, preloading: Preloading): Promise<readonly string[]> {
  const months = monthsOf(preloading)
  const streamIds = await makeTables(dataDir, preloading, months)
  const instance = await DuckDBInstance.create(join(dataDir, 'time-series.duckdb'), {
    memory_limit: '1GB',
    threads: '2',
  })
  const connection = await instance.connect()
  const tables = await connection.runAndReadAll(
    `SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'readings%' ORDER BY name`,
  )
  const names = tables.getRowObjectsJS().map((row) => row['name'] as string)
  const { rows, startUs, stepUs, fields } = preloading
  const columns = Object.keys(fields).map((name) => `, "${name}"`)
  const values = Object.values(fields).map((expression) => `, ${expression}`)
  for (const { fromRow, toRow, month } of months) {
    const table = names.find((name) => name.endsWith(`_${month}`))
    for (let at = fromRow; at < toRow; at += rowsAtOnce) {
      await connection.run(
        `INSERT INTO "${table}" ("streamId", "timestamp", "$receivedAt", "$digest"${columns.join('')})
         SELECT 1 + i % ${preloading.streams}, make_timestamp(${startUs}::BIGINT + i * ${stepUs}),
           make_timestamp(${startUs}::BIGINT), hash(i)${values.join('')}
         FROM range(${at}, ${Math.min(toRow, at + rowsAtOnce)}) r(i)`,
      )
    }
  }
  const each = Math.ceil(rows / preloading.streams)
  await connection.run(
    `INSERT INTO stream_counts BY NAME SELECT "streamId", ${each} AS received, ${each} AS stored,
       0 AS duplicates, 0 AS latency_us, 0 AS last_stored_at,
       ${startUs + rows * stepUs} AS timestamp_max FROM streams`,
  )
  connection.closeSync()
  instance.closeSync()
  return streamIds
}

interface MonthRows {
  readonly month: number
  readonly fromRow: number
  readonly toRow: number
}

function monthsOf({ rows, startUs, stepUs }: Preloading): readonly MonthRows[] {
  const months: MonthRows[] = []
  for (let fromRow = 0; fromRow < rows; ) {
    const month = monthOf(startUs + fromRow * stepUs)
    const end = Math.ceil((startOfMonthUs(month + 1) - startUs) / stepUs)
    const toRow = Math.min(rows, end)
    months.push({ month, fromRow, toRow })
    fromRow = toRow
  }
  return months
}

/** One reading of each stream in each month: the service makes what belongs to it. */
async function makeTables(
  dataDir: string,
  { streams, schema, startUs, stepUs }: Preloading,
  months: readonly MonthRows[],
): Promise<readonly string[]> {
  const service = await startServiceProcess(dataDir)
  const api = new ApiClient(service.http)
  const streamIds: string[] = []
  for (let index = 0; index < streams; index++) {
    const streamId = await api.createStream(schema)
    streamIds.push(streamId)
    for (const { fromRow } of months) {
      const timestamp = new Date((startUs + fromRow * stepUs) / 1000).toISOString()
      await api.withToken('POST', `/streams/${streamId}/data`, { timestamp })
    }
    // In their order: the store numbers streams as they come.
    await api.settled(streamId, months.length)
  }
  await service.end('SIGTERM')
  return streamIds
}
