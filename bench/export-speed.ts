import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { ApiClient } from '../test/support/api-client.ts'
import {
  adminKey,
  adminSecret,
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../test/support/service-process.ts'
import { numberFlag } from './load-command.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import { flagsOf, mqttFlags, runGenerator } from './servers.ts'

/** What a slow reader takes of a CSV answer: this much in each so many milliseconds. */
const slowBytes = 256 * 1024
const slowMs = 1_000

const schema = { temperature: { type: 'number' }, mode: { type: 'string' } }

/** Begins in a month of its own: 1 reading each millisecond. */
const startUs = Date.UTC(2025, 0, 1) * 1000

/**
 * Fills a stream with readings, and compares memory and the time to the acknowledgement under MQTT load
 * without a reader, with a slow reader of all of it as CSV, and with a fast one.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rows: { type: 'string' }, rate: { type: 'string' }, seconds: { type: 'string' } },
  })
  const rows = numberFlag('rows', values.rows) ?? 10_000_000
  const rate = numberFlag('rate', values.rate) ?? 5_000
  const seconds = numberFlag('seconds', values.seconds) ?? 20
  const dataDir = newDataDir()
  const { exported, target } = await fill(dataDir, rows)
  const service = await startServiceProcess(dataDir, { STREAMVAULT_CHECK_ANSWERS: 'off' })
  const api = new ApiClient(service.http)
  const load = () =>
    runGenerator<MqttLoadResult>('mqtt-load', [
      ...mqttFlags({
        port: service.mqttPort,
        username: adminKey,
        password: adminSecret,
        topics: [`streams/${target}/data`],
      }),
      ...flagsOf({ rate, seconds, warmup: 3 }),
    ])

  print('without a reader', await withMemory(service, load))
  const slow = await openCsv(api, service, exported)
  const reading = readSlowly(slow)
  print('with a slow reader', await withMemory(service, load))
  slow.destroy()
  await reading
  const beganMs = performance.now()
  const fast = await openCsv(api, service, exported)
  const lines = countLines(fast)
  print('with a fast reader', await withMemory(service, load))
  const took = ((await lines) - 1) / ((performance.now() - beganMs) / 1000)
  console.log(`the fast reader got ${Math.round(took).toLocaleString('en')} readings/s`)
  await service.end('SIGTERM')
  rmSync(dataDir, { recursive: true })
}

/** A stream with this many readings, made in the store itself, and one to send to. */
async function fill(dataDir: string, rows: number) {
  const service = await startServiceProcess(dataDir)
  const api = new ApiClient(service.http)
  const [exported, target] = [await api.createStream(schema), await api.createStream(schema)]
  const timestamp = new Date(startUs / 1000 - 1).toISOString()
  await api.withToken('POST', `/streams/${exported}/data`, { timestamp, temperature: 1, mode: 'a' })
  const first = { timestamp: new Date(startUs / 1000).toISOString(), temperature: 1 }
  await api.withToken('POST', `/streams/${exported}/data`, first)
  await api.settled(exported, 2)
  await service.end('SIGTERM')
  const instance = await DuckDBInstance.create(join(dataDir, 'time-series.duckdb'), {
    memory_limit: '512MB',
    threads: '2',
  })
  const connection = await instance.connect()
  const tables = await connection.runAndReadAll(
    `SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'readings%202501'`,
  )
  const table = tables.getRowObjectsJS()[0]?.['name'] as string
  for (let at = 1; at < rows; at += 1_000_000) {
    await connection.run(
      `INSERT INTO "${table}" ("streamId", "timestamp", "$receivedAt", "$digest", temperature, mode)
       SELECT 1, make_timestamp(${startUs}::BIGINT + i * 1000), make_timestamp(${startUs}::BIGINT),
         hash(i), i / 7, 'mode ' || i % 10 FROM range(${at}, ${Math.min(rows, at + 1_000_000)}) r(i)`,
    )
  }
  const newestUs = startUs + rows * 1000
  await connection.run(
    `INSERT INTO stream_counts BY NAME SELECT 1 AS "streamId", ${rows} AS received, ${rows} AS stored,
       0 AS duplicates, 0 AS latency_us, 0 AS last_stored_at, ${newestUs} AS timestamp_max`,
  )
  connection.closeSync()
  instance.closeSync()
  return { exported, target }
}

async function openCsv(
  api: ApiClient,
  { http }: ServiceProcess,
  streamId: string,
): Promise<IncomingMessage> {
  const outgoing = request(`${http}/streams/${streamId}/data`, {
    agent: false,
    headers: { authorization: `Bearer ${await api.token()}`, accept: 'text/csv' },
  })
  outgoing.end()
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  return incoming
}

async function readSlowly(incoming: IncomingMessage): Promise<void> {
  incoming.on('error', () => undefined).pause()
  while (!incoming.destroyed) {
    incoming.read(slowBytes)
    await sleep(slowMs)
  }
}

async function countLines(incoming: IncomingMessage): Promise<number> {
  let lines = 0
  for await (const chunk of incoming) {
    for (const byte of chunk as Buffer) if (byte === 10) lines++
  }
  return lines
}

/** The highest resident memory that was seen meanwhile, in MB. */
async function withMemory(
  { http }: ServiceProcess,
  load: () => Promise<MqttLoadResult>,
): Promise<{ readonly result: MqttLoadResult; readonly rssMb: number }> {
  let rssMb = 0
  const look = async () => {
    const text = await (await fetch(`${http}/metrics`)).text()
    const line = text
      .split('\n')
      .find((one) => one.startsWith('streamvault_process_resident_memory_bytes '))
    rssMb = Math.max(rssMb, Number(line?.split(' ')[1]) / 1e6)
  }
  const timer = setInterval(() => void look(), 1_000)
  const result = await load()
  clearInterval(timer)
  await look()
  return { result, rssMb }
}

function print(
  what: string,
  { result, rssMb }: { readonly result: MqttLoadResult; readonly rssMb: number },
): void {
  const { p50, p99 } = result.latencyUs
  const figures = `${Math.round(result.perSecond)}/s acknowledged, p50 ${(p50 / 1000).toFixed(1)} ms, p99 ${(p99 / 1000).toFixed(1)} ms`
  console.log(`${what.padEnd(20)} ${figures}, at most ${rssMb.toFixed(0)} MB`)
}

await main()
