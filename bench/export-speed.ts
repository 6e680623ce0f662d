import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
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
import { preload } from './preload.ts'
import { flagsOf, mqttFlags, runGenerator } from './servers.ts'

/** What a slow reader takes of a CSV answer: this much in each so many milliseconds. */
const slowBytes = 256 * 1024
const slowMs = 1_000

const schema = { temperature: { type: 'number' }, mode: { type: 'string' } }

/** Begins in a month of its own: 1 reading each millisecond. */
const startUs = Date.UTC(2025, 0, 1) * 1000

/**
 * Fills a stream with readings, and compares memory and the time to the acknowledgement under MQTT load
 * without a reader, with a slow reader of all of it as CSV, with a fast one, and beside jobs that write it
 * into files.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rows: { type: 'string' }, rate: { type: 'string' }, seconds: { type: 'string' } },
  })
  const rows = numberFlag('rows', values.rows) ?? 10_000_000
  const rate = numberFlag('rate', values.rate) ?? 5_000
  const seconds = numberFlag('seconds', values.seconds) ?? 20
  const dataDir = newDataDir()
  const fields = { temperature: 'i / 7', mode: `'mode ' || i % 10` }
  const [exported = ''] = await preload(dataDir, {
    streams: 1,
    schema,
    fields,
    rows,
    startUs,
    stepUs: 1_000,
  })
  const service = await startServiceProcess(dataDir, { STREAMVAULT_CHECK_ANSWERS: 'off' })
  const api = new ApiClient(service.http)
  const target = await api.createStream(schema)
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
  for (const format of ['csv', 'parquet']) {
    const job = exportJob(api, exported, format)
    print(`beside ${format} files`, await withMemory(service, load))
    console.log(`the job wrote ${Math.round(await job).toLocaleString('en')} readings/s`)
  }
  await service.end('SIGTERM')
  rmSync(dataDir, { recursive: true })
}

interface Job {
  readonly exportId: string
  readonly state: string
  readonly rows: number
}

/** Lets the service write all of a stream into files; resolves with readings per second. */
async function exportJob(api: ApiClient, streamId: string, format: string): Promise<number> {
  const beganMs = performance.now()
  const body = { streamIds: [streamId], format }
  const made = await api.withToken<Job>('POST', '/exports', body)
  for (;;) {
    const path = `/exports/${made.body.exportId}`
    const { state, rows } = (await api.withToken<Job>('GET', path)).body
    if (state === 'completed') return rows / ((performance.now() - beganMs) / 1000)
    if (state === 'failed') throw new Error('the export failed')
    await sleep(200)
  }
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
