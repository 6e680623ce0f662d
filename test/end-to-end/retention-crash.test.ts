import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DuckDbFile } from '../../src/time-series/duckdb/duckdb-file.ts'
import { rowsOf } from '../../src/time-series/duckdb/rows-of.ts'
import { ApiClient } from '../support/api-client.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

/** Some portions of what goes in one transaction. */
const readings = 600_000
const kills = 3

const dayMs = 86_400_000

/** The second day of a month that is over. */
const firstMs = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 2, 2)

async function inStore<Result>(
  dataDir: string,
  work: (file: DuckDbFile) => Promise<Result>,
): Promise<Result> {
  const file = await DuckDbFile.open(join(dataDir, 'time-series.duckdb'))
  const result = await work(file)
  await file.close()
  return result
}

async function readingsTable(file: DuckDbFile): Promise<string> {
  const tables = await rowsOf(
    file.writer,
    `SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'readings%'`,
  )
  expect(tables).toHaveLength(1)
  return `"${String(tables[0]?.['name'])}"`
}

/** Adds readings as the shipper does: with their counts. */
async function fill(file: DuckDbFile, streamId: string): Promise<void> {
  const table = await readingsTable(file)
  await file.writer.run(`
    INSERT INTO ${table} BY NAME
    SELECT s."streamId", make_timestamp(${firstMs * 1_000} + i * 1_000) AS "timestamp",
      make_timestamp(${firstMs * 1_000}) AS "$receivedAt", hash(i) AS "$digest", i AS temperature
    FROM streams s, range(1, ${readings}) t(i) WHERE s.id = '${streamId}'`)
  await file.writer.run(`
    INSERT INTO stream_counts BY NAME
    SELECT "streamId", ${readings} - 1 AS received, ${readings} - 1 AS stored, 0 AS duplicates,
      0 AS latency_us, 0 AS last_stored_at, ${firstMs * 1_000 + readings * 1_000} AS timestamp_max
    FROM streams WHERE id = '${streamId}'`)
}

test('a pass that is killed again and again loses no count, and comes to its end', async () => {
  const dataDir = services.newFolder()
  let process = await services.start(dataDir)
  let api = new ApiClient(process.http)
  const [expiring, kept] = [await api.createStream(), await api.createStream()]
  const reading = { timestamp: new Date(firstMs).toISOString(), temperature: 0 }
  for (const streamId of [expiring, kept]) {
    await api.withToken('POST', `/streams/${streamId}/data`, reading)
    await api.settled(streamId, 1)
  }
  await process.end('SIGTERM')
  await inStore(dataDir, (file) => fill(file, expiring))
  process = await services.start(dataDir)
  api = new ApiClient(process.http)
  const retention = { raw: `${Math.floor((Date.now() - firstMs) / dayMs) - 5}d` }
  await api.withToken('PUT', `/streams/${expiring}`, { processing: { retention } })

  const expiredNow = async () => Number((await api.status(expiring))['expired'])
  const seen = new Set<number>()
  for (let round = 0; round < kills; round++) {
    const before = await expiredNow()
    await expect.poll(expiredNow, { interval: 2 }).toBeGreaterThan(before)
    await process.end('SIGKILL')
    process = await services.start(dataDir)
    api = new ApiClient(process.http)
    seen.add(await expiredNow())
  }

  await expect.poll(expiredNow).toBe(readings)
  // Some kills have hit the middle of the pass, or this would be no test.
  expect([...seen].filter((count) => count > 0 && count < readings).length).toBeGreaterThan(1)
  expect(await api.status(expiring)).toMatchObject({
    deleted: 0,
    counters: { received: readings, stored: readings, duplicates: 0, pending: 0 },
  })
  expect(await api.readAll(expiring)).toEqual([])
  expect(await api.readAll(kept)).toHaveLength(1)
  await process.end('SIGTERM')
  const left = await inStore(dataDir, async (file) =>
    rowsOf(file.writer, `SELECT count(*)::INTEGER AS rows FROM ${await readingsTable(file)}`),
  )
  expect(left).toEqual([{ rows: 1 }])
})
