import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ApiClient } from '../test/support/api-client.ts'
import { preload } from '../test/support/preload.ts'
import {
  adminKey,
  adminSecret,
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../test/support/service-process.ts'
import { medianOf } from './fleet.ts'
import { numberFlag } from './load-command.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import { type Figure, printFigure } from './report.ts'
import { flagsOf, mqttFlags, runGenerator } from './servers.ts'

/** What a slow reader takes of a CSV answer: this much in each so many milliseconds. */
const slowBytes = 256 * 1024
const slowMs = 1_000

/** How often each of two is measured, in turns: the machine is not the same all the time. */
const turns = 3

const schema = { temperature: { type: 'number' }, mode: { type: 'string' } }

/** Begins in a month of its own: 1 reading each millisecond. */
const startUs = Date.UTC(2025, 0, 1) * 1000

export interface ExportLoad {
  readonly rows: number
  /** Readings a second that come in meanwhile, and for how long. */
  readonly rate: number
  readonly seconds: number
}

/**
 * Fills a stream with readings, and compares memory and the time to the acknowledgement under MQTT load
 * without a reader, with a slow reader of all of it as CSV, with a fast one, and beside jobs that write it
 * into files.
 */
export async function exportSpeed({ rows, rate, seconds }: ExportLoad): Promise<Figure[]> {
  const dataDir = newDataDir()
  const exported = await filledStream(dataDir, rows)
  const service = await startServiceProcess(dataDir, { STREAMVAULT_CHECK_ANSWERS: 'off' })
  const api = new ApiClient(service.http)
  const topics = [`streams/${await api.createStream(schema)}/data`]
  const target = { port: service.mqttPort, username: adminKey, password: adminSecret, topics }
  const load = () =>
    runGenerator<MqttLoadResult>('mqtt-load', [
      ...mqttFlags(target),
      ...flagsOf({ rate, seconds, warmup: 3 }),
    ])
  const all = `${rows.toLocaleString('en')} readings`
  const name = (what: string) => `acknowledgements at ${rate.toLocaleString('en')}/s ${what}`

  await load() // the memory of a service grows at first, whatever it does
  const [alone, slowly] = await inTurns(
    () => withMemory(service, load),
    async () => {
      const slow = await openCsv(api, service, exported)
      const reading = readSlowly(slow)
      const loaded = await withMemory(service, load)
      slow.destroy()
      await reading
      return loaded
    },
  )
  const figures = [
    {
      name: name(`without a reader, and with a slow one of ${all} as CSV`),
      measured: `${textOf(alone)}; ${textOf(slowly)}`,
      target: 'the same, within a third and 20 MB of what is usual',
      isMet: slowly.p99Ms < alone.p99Ms * 1.33 && slowly.usualMb < alone.usualMb + 20,
    },
  ]
  const beside = async (what: string, work: Promise<number>): Promise<void> => {
    const loaded = await withMemory(service, load)
    figures.push({
      name: name(what),
      measured: `${textOf(loaded)}; ${Math.round(await work).toLocaleString('en')} readings/s written`,
      target: 'p99 below twice',
      isMet: loaded.p99Ms < alone.p99Ms * 2,
    })
  }
  const fast = await openCsv(api, service, exported)
  await beside(`beside a fast reader of ${all} as CSV`, linesPerSecond(fast))
  for (const format of ['csv', 'parquet']) {
    await beside(`beside a job that writes ${all} as ${format}`, exportJob(api, exported, format))
  }
  await service.end('SIGTERM')
  rmSync(dataDir, { recursive: true })
  return figures
}

async function filledStream(dataDir: string, rows: number): Promise<string> {
  const fields = { temperature: 'i / 7', mode: `'mode ' || i % 10` }
  const layout = { streams: 1, schema, fields, rows, startUs, stepUs: 1_000 }
  const [streamId = ''] = await preload(dataDir, layout)
  return streamId
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

async function linesPerSecond(incoming: IncomingMessage): Promise<number> {
  const beganMs = performance.now()
  let lines = -1
  for await (const chunk of incoming) {
    for (const byte of chunk as Buffer) if (byte === 10) lines++
  }
  return lines / ((performance.now() - beganMs) / 1000)
}

interface Loaded {
  readonly p99Ms: number
  /** Resident memory: of the second in the middle, and the highest, which some work of seconds may take. */
  readonly usualMb: number
  readonly mostMb: number
}

function textOf({ p99Ms, usualMb, mostMb }: Loaded): string {
  return `p99 ${p99Ms.toFixed(1)} ms, ${usualMb.toFixed(0)} MB, at most ${mostMb.toFixed(0)} MB`
}

/** Measures one and the other in turns, and resolves with what is in the middle of each, and the highest memory. */
async function inTurns(
  one: () => Promise<Loaded>,
  other: () => Promise<Loaded>,
): Promise<readonly [Loaded, Loaded]> {
  const ones: Loaded[] = []
  const others: Loaded[] = []
  for (let turn = 0; turn < turns; turn++) {
    ones.push(await one())
    others.push(await other())
  }
  return [middleOf(ones), middleOf(others)]
}

function middleOf(measured: readonly Loaded[]): Loaded {
  return {
    p99Ms: medianOf(measured.map(({ p99Ms }) => p99Ms)),
    usualMb: medianOf(measured.map(({ usualMb }) => usualMb)),
    mostMb: Math.max(...measured.map(({ mostMb }) => mostMb)),
  }
}

/** How long acknowledgements took, and the resident memory of each second meanwhile. */
async function withMemory(
  { http }: ServiceProcess,
  load: () => Promise<MqttLoadResult>,
): Promise<Loaded> {
  const seenMb: number[] = []
  const look = async () => {
    const text = await (await fetch(`${http}/metrics`)).text()
    const line = text
      .split('\n')
      .find((one) => one.startsWith('streamvault_process_resident_memory_bytes '))
    seenMb.push(Number(line?.split(' ')[1]) / 1e6)
  }
  const timer = setInterval(() => void look(), 1_000)
  const result = await load()
  clearInterval(timer)
  await look()
  return {
    p99Ms: result.latencyUs.p99 / 1000,
    usualMb: medianOf(seenMb),
    mostMb: Math.max(...seenMb),
  }
}

/** By itself with `npm run bench:export`. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { rows: { type: 'string' }, rate: { type: 'string' }, seconds: { type: 'string' } },
  })
  const figures = await exportSpeed({
    rows: numberFlag('rows', values.rows) ?? 10_000_000,
    rate: numberFlag('rate', values.rate) ?? 5_000,
    seconds: numberFlag('seconds', values.seconds) ?? 20,
  })
  for (const figure of figures) printFigure(figure)
}

if (import.meta.main) await main()
