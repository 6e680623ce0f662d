import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DuckDbFile } from '../../../src/storage/time-series/duckdb/duckdb-file.ts'
import { rowsOf } from '../../../src/storage/time-series/duckdb/rows-of.ts'
import { ApiClient } from '../../support/api-client.ts'
import type { ServiceProcess } from '../../support/service-process.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()

/** Some portions of what goes in one transaction. */
const readingsAtFirst = 600_000
const killsOfPass = 3

/** Kills that have to hit the middle of a pass. */
const hitsMin = 2

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
async function fill(file: DuckDbFile, streamId: string, readings: number): Promise<void> {
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

/** A service that is killed again and again. */
class Killed {
  readonly dataDir = services.newFolder()
  #process: ServiceProcess | undefined
  #api: ApiClient | undefined

  get api(): ApiClient {
    if (!this.#api) throw new Error('it does not run')
    return this.#api
  }

  async start(): Promise<void> {
    this.#process = await services.start(this.dataDir)
    this.#api = new ApiClient(this.#process.http)
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    await this.#process?.end(signal)
  }

  async stream(): Promise<string> {
    const streamId = await this.api.createStream()
    const reading = { timestamp: new Date(firstMs).toISOString(), temperature: 0 }
    await this.api.withToken('POST', `/streams/${streamId}/data`, reading)
    await this.api.settled(streamId, 1)
    return streamId
  }

  /** A stream with so many readings that are too old: a pass has just begun. */
  async expiringStream(readings: number): Promise<string> {
    const streamId = await this.stream()
    await this.end('SIGTERM')
    await inStore(this.dataDir, (file) => fill(file, streamId, readings))
    await this.start()
    const retention = { raw: `${Math.floor((Date.now() - firstMs) / dayMs) - 5}d` }
    await this.api.withToken('PUT', `/streams/${streamId}`, { processing: { retention } })
    return streamId
  }

  async expired(streamId: string): Promise<number> {
    return Number((await this.api.status(streamId))['expired'])
  }

  /** Kills it during a pass, and again; resolves with what had expired then, where that was not all. */
  async killedInPass(streamId: string, readings: number): Promise<ReadonlySet<number>> {
    const seen = new Set<number>()
    for (let kill = 0; kill < killsOfPass; kill++) {
      const before = await this.expired(streamId)
      if (before === readings) break
      await expect.poll(() => this.expired(streamId), { interval: 2 }).toBeGreaterThan(before)
      await this.end('SIGKILL')
      await this.start()
      const now = await this.expired(streamId)
      if (now > 0 && now < readings) seen.add(now)
    }
    return seen
  }
}

test('a pass that is killed again and again loses no count, and comes to its end', async () => {
  const service = new Killed()
  await service.start()
  const kept = await service.stream()
  const expiring = new Map<string, number>()
  // A pass may be over before the kill, or before the next start is: then one with more to do is begun.
  for (let hits = 0, readings = readingsAtFirst; hits < hitsMin; readings *= 2) {
    const streamId = await service.expiringStream(readings)
    expiring.set(streamId, readings)
    hits += (await service.killedInPass(streamId, readings)).size
  }

  for (const [streamId, readings] of expiring) {
    await expect.poll(() => service.expired(streamId)).toBe(readings)
    expect(await service.api.status(streamId)).toMatchObject({
      deleted: 0,
      counters: { received: readings, stored: readings, duplicates: 0, pending: 0 },
    })
    expect(await service.api.readAll(streamId)).toEqual([])
  }
  expect(await service.api.readAll(kept)).toHaveLength(1)
  await service.end('SIGTERM')
  const left = await inStore(service.dataDir, async (file) =>
    rowsOf(file.writer, `SELECT count(*)::INTEGER AS rows FROM ${await readingsTable(file)}`),
  )
  expect(left).toEqual([{ rows: 1 }])
})
