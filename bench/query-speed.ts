import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { systemClock } from '../src/core/clock.ts'
import type { AggregateQuery } from '../src/storage/time-series/aggregate-query.ts'
import { DuckDbFile } from '../src/storage/time-series/duckdb/duckdb-file.ts'
import { DuckDbStore } from '../src/storage/time-series/duckdb/duckdb-store.ts'
import { rowsOf } from '../src/storage/time-series/duckdb/rows-of.ts'
import { ApiClient } from '../test/support/api-client.ts'
import {
  adminKey,
  adminSecret,
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../test/support/service-process.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import { type Figure, printFigure } from './report.ts'
import { measureRollups } from './rollup-speed.ts'
import { flagsOf, mqttFlags, runGenerator } from './servers.ts'

const streams = 1_000
const readingsOfEach = 5_000
const readingsInAll = (streams * readingsOfEach).toLocaleString('en')
/** Each stream has a reading every eight minutes, from the first day of 2026 on: a month. */
const everyUs = 480_000_000
const fromUs = Date.UTC(2026, 0, 1) * 1_000
const hourUs = 3_600_000_000

const rounds = 15

/** Readings a second while the queries run: what a machine of this kind does at its ease. */
const loadRate = 5_000
const loadSeconds = 8

const schema = {
  temperature: { type: 'number', range: [-50, 150] },
  humidity: { type: 'number' },
  pressure: { type: 'number' },
  status: { type: 'string' },
  sequence: { type: 'integer' },
}

/** Builds a store of five million readings, and measures what queries take and what they disturb. */
export async function querySpeed(): Promise<Figure[]> {
  const dataDir = newDataDir()
  const { vaultId, ids } = await makeStreams(dataDir)
  const path = join(dataDir, 'time-series.duckdb')
  await fill(path)
  const figures = [
    ...(await aggregationOfOne(path, ids)),
    await rolledUp(),
    await latestOfAll(dataDir, vaultId),
    ...(await disturbances(dataDir, ids)),
  ]
  rmSync(dataDir, { recursive: true })
  return figures
}

async function start(dataDir: string): Promise<ServiceProcess> {
  return await startServiceProcess(dataDir, { STREAMVAULT_CHECK_ANSWERS: 'off' })
}

interface Made {
  readonly vaultId: string
  readonly ids: readonly string[]
}

/** Streams of one vault, each with one reading, so that the store knows them and has their table. */
async function makeStreams(dataDir: string): Promise<Made> {
  const service = await start(dataDir)
  const api = new ApiClient(service.http)
  const vaultId = await api.createVault()
  const ids: string[] = []
  for (let index = 0; index < streams; index++) {
    const stream = await api.withToken<{ streamId: string }>('POST', '/streams', {
      name: `machine ${index}`,
      vaultId,
      type: 'iot_sensor',
      schema,
    })
    const { streamId } = stream.body
    const reading = { timestamp: '2026-01-01T00:00:00Z', temperature: 20 }
    await api.withToken('POST', `/streams/${streamId}/data`, reading)
    ids.push(streamId)
  }
  await Promise.all(ids.slice(-1).map((id) => api.settled(id, 1)))
  await service.end('SIGTERM')
  return { vaultId, ids }
}

/** Adds readings as the shipper lays them out: in portions of time, and in each by stream. */
async function fill(path: string): Promise<void> {
  const file = await DuckDbFile.open(path)
  const { writer } = file
  const [table] = await rowsOf(
    writer,
    `SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'readings%202601'`,
  )
  const name = `"${String(table?.['name'])}"`
  const ofShipment = 10
  for (let first = 1; first < readingsOfEach; first += ofShipment * 10) {
    await writer.run(`
      INSERT INTO ${name} BY NAME
      SELECT s."streamId", make_timestamp(${fromUs} + i * ${everyUs}::BIGINT) AS "timestamp",
        make_timestamp(${fromUs} + i * ${everyUs}::BIGINT) AS "$receivedAt",
        hash(s."streamId", i) AS "$digest",
        20 + 5 * sin(i / 50) + random() AS temperature, 40 + random() * 20 AS humidity,
        1000 + random() * 30 AS pressure, 'state ' || (i % 5) AS status, i AS sequence
      FROM streams s, range(${first}, ${first + ofShipment * 10}) t(i)
      ORDER BY i // ${ofShipment}, s."streamId", i`)
  }
  // What the shipper would have noted of them.
  await writer.run(`
    INSERT INTO stream_counts BY NAME
    SELECT "streamId", count(*) - 1 AS received, count(*) - 1 AS stored, 0 AS duplicates,
      0 AS latency_us, 0 AS last_stored_at, epoch_us(max("timestamp")) AS timestamp_max
    FROM ${name} GROUP BY "streamId"`)
  await writer.run('CHECKPOINT')
  await file.close()
}

/** Puts one question to the store and, typed by hand, to the engine under it. */
async function aggregationOfOne(path: string, ids: readonly string[]): Promise<Figure[]> {
  const streamId = ids[ids.length >> 1] ?? ''
  const query: AggregateQuery = {
    series: [{ key: streamId, streamIds: [streamId] }],
    startUs: fromUs,
    endUs: fromUs + 31 * 24 * hourUs,
    buckets: { kind: 'calendar', unit: 'hour', units: 1, zone: 'UTC' },
    fields: [{ key: 'temperature', name: 'temperature', type: 'double', function: 'avg' }],
    fill: 'none',
    limit: 10_000,
    after: undefined,
  }
  const store = await DuckDbStore.open(path, systemClock)
  const zone = { kind: 'calendar', unit: 'day', units: 1, zone: 'America/New_York' } as const
  const all = { ...query, series: ids.toSorted().map((id) => ({ key: id, streamIds: [id] })) }
  const ours = await median(() => store.aggregate(query))
  const filled = await median(() => store.aggregate({ ...query, buckets: zone, fill: 'linear' }))
  const many = await median(() => store.aggregate({ ...all, buckets: zone, limit: 10_000 }))
  await store.close()

  const instance = await DuckDBInstance.create(path, { memory_limit: '512MB', threads: '2' })
  const connection = await instance.connect()
  const [table] = await rowsOf(
    connection,
    `SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'readings%202601'`,
  )
  const [stream] = await rowsOf(
    connection,
    `SELECT "streamId" AS key FROM streams WHERE id = '${streamId}'`,
  )
  const byHand = `SELECT time_bucket(INTERVAL 1 HOUR, "timestamp") AS hour, favg(temperature), count(*)
    FROM "${String(table?.['name'])}" WHERE "streamId" = ${Number(stream?.['key'])}
      AND "timestamp" >= '2026-01-01' AND "timestamp" < '2026-02-01' GROUP BY 1 ORDER BY 1`
  const theirs = await median(() => rowsOf(connection, byHand))
  connection.closeSync()
  instance.closeSync()
  return [
    {
      name: `hourly averages of one stream among ${readingsInAll} readings of ${streams}, and the same SQL on the engine`,
      measured: `${ms(ours)} and ${ms(theirs)}`,
      target: '1.3 times, and 5 ms',
      isMet: ours <= theirs * 1.3 + 5,
    },
    {
      name: 'averages of the days of a zone, filled, of one stream; and of all streams, page 1',
      measured: `${ms(filled)} and ${ms(many)}`,
      target: 'nothing promised',
      isMet: true,
    },
  ]
}

function textOf({ before, after }: { readonly before: number; readonly after: number }): string {
  return `${ms(before)} and ${ms(after)}`
}

/** Five million readings of one stream, before and after they are rolled up. */
async function rolledUp(): Promise<Figure> {
  const { hourly, daily } = await measureRollups(median)
  return {
    name: 'averages of 5,000,000 readings of one stream, without and with rollups',
    measured: `hourly ${textOf(hourly)}, daily ${textOf(daily)}`,
    target: 'less than a fifth',
    isMet: hourly.after < hourly.before / 5 && daily.after < daily.before / 5,
  }
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const took: number[] = []
  await work()
  for (let round = 0; round < rounds; round++) {
    const beganMs = performance.now()
    await work()
    took.push(performance.now() - beganMs)
  }
  return took.toSorted((left, right) => left - right)[rounds >> 1] ?? 0
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`
}

/** The newest readings of all streams, as a client gets them. */
async function latestOfAll(dataDir: string, vaultId: string): Promise<Figure> {
  const service = await start(dataDir)
  const api = new ApiClient(service.http)
  const took = await median(async () => {
    const path = `/vaults/${vaultId}/latest?limit=1000`
    const { body } = await api.withToken<{ data: readonly object[] }>('GET', path)
    if (body.data.length !== streams) throw new Error(JSON.stringify(body).slice(0, 1_000))
  })
  await service.end('SIGTERM')
  return {
    name: `the newest readings of ${streams.toLocaleString('en')} streams, over HTTP`,
    measured: ms(took),
    target: 'under 50 ms',
    isMet: took < 50,
  }
}

/** A question that is asked again and again. */
interface Asked {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: object
  /** How many times as long acknowledgements may take; nothing where that is not promised. */
  readonly timesMax?: number
}

/** How long acknowledgements take while somebody asks about everything, and about one stream. */
async function disturbances(dataDir: string, ids: readonly string[]): Promise<Figure[]> {
  const service = await start(dataDir)
  const range = `start=${fullScan.start}&end=${fullScan.end}`
  const scans = `full scans of ${readingsInAll} readings`
  const averages = 'the hourly averages of one stream among them, again and again'
  const path = `/streams/${ids[0] ?? ''}/data?aggregation=hourly&fields=temperature&${range}`
  const asked: Asked[] = [
    { name: scans, method: 'POST', path: '/query', body: fullScan, timesMax: 2 },
    { name: averages, method: 'GET', path },
  ]
  const figures: Figure[] = []
  for (const one of asked) figures.push(await disturbance(service, ids, one))
  await service.end('SIGTERM')
  return figures
}

async function disturbance(
  service: ServiceProcess,
  ids: readonly string[],
  { name, method, path, body, timesMax }: Asked,
): Promise<Figure> {
  const api = new ApiClient(service.http)
  const load = async () => {
    const target = { port: service.mqttPort, username: adminKey, password: adminSecret }
    const topics = ids.slice(0, 20).map((id) => `streams/${id}/data`)
    return await runGenerator<MqttLoadResult>('mqtt-load', [
      ...mqttFlags({ ...target, topics }),
      ...flagsOf({ rate: loadRate, seconds: loadSeconds, warmup: 2 }),
    ])
  }
  const alone = await load()
  const answers = { areOver: false, took: [] as number[] }
  const asking = (async () => {
    while (!answers.areOver) {
      const beganMs = performance.now()
      const answer = await api.withToken(method, path, body)
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      answers.took.push(performance.now() - beganMs)
    }
  })()
  const disturbed = await load()
  answers.areOver = true
  await asking
  const [before, during] = [alone.latencyUs.p99 / 1_000, disturbed.latencyUs.p99 / 1_000]
  const slowest = Math.max(...answers.took)
  return {
    name: `p99 of acknowledgements at ${loadRate.toLocaleString('en')}/s, without and with ${name}`,
    measured: `${ms(before)} and ${ms(during)}; ${answers.took.length} answers, slowest ${ms(slowest)}`,
    target: timesMax ? `less than ${timesMax} times` : 'nothing promised',
    isMet: during < before * (timesMax ?? Infinity),
  }
}

const fullScan = {
  fields: ['temperature', 'humidity:max', 'pressure:p95', 'status', 'sequence:stddev'],
  start: '2026-01-01T00:00:00Z',
  end: '2026-02-01T00:00:00Z',
  aggregation: 'daily',
  tz: 'Europe/Berlin',
  groupBy: 'time',
}

if (import.meta.main) for (const figure of await querySpeed()) printFigure(figure)
