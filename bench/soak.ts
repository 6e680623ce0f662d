import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ApiClient } from '../test/support/api-client.ts'
import { PassingGuest } from '../test/support/passing-guest.ts'
import { Receiver } from '../test/support/receiver.ts'
import {
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../test/support/service-process.ts'
import { type Figure, printFigure, writeReport } from './report.ts'
import { readMetrics } from './servers.ts'

/** Memory that the last third of the rounds may have more than the third before it: allocators are not exact. */
const slackMb = 12
const slackShare = 0.04

/** After a round the service has this long to come to rest. */
const restMs = 3_000

/** After a restart memory is looked at when the passes of a start are over. */
const settledMs = 20_000

/** Tables whose rows stay for some time after what they are about is gone, and are expected to grow in a short run. */
const keptForDays =
  /^(events|inbox|deliver|audit|data_stream_deletions|users|sqlite_autoindex_(events|inbox|deliver|audit|data_stream_deletions|users))/

interface Sample {
  readonly minute: number
  readonly rssMb: number
  readonly heapMb: number
  readonly workerMb: number
  readonly streams: number
  readonly files: Readonly<Record<string, number>>
}

/** Users come, use everything and leave, again and again; a service that forgets them does not grow. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '60' },
      streams: { type: 'string', default: '1000' },
      keep: { type: 'boolean', default: false },
      'no-report': { type: 'boolean', default: false },
    },
  })
  const minutes = Number(values.minutes)
  const streams = Number(values.streams)
  const dataDir = newDataDir()
  const receiver = await Receiver.start()
  const settings = {
    STREAMVAULT_CHECK_ANSWERS: 'off',
    STREAMVAULT_EGRESS_ALLOW: receiver.destination,
  }
  const emptyMs = performance.now()
  let service = await startServiceProcess(dataDir, settings)
  const firstStartMs = performance.now() - emptyMs
  await sleep(settledMs)
  const first = await sampleOf(service, 0)
  print(0, first)
  const samples: Sample[] = []
  const beganMs = performance.now()
  const minute = () => (performance.now() - beganMs) / 60_000
  while (minute() < minutes) {
    const api = new ApiClient(service.http)
    const guest = await PassingGuest.arrive({ api, mqttPort: service.mqttPort, receiver, streams })
    await guest.use()
    await guest.settle()
    await guest.leave()
    receiver.received.length = 0
    await untilGone(service)
    await sleep(restMs)
    const sample = await sampleOf(service, minute())
    samples.push(sample)
    print(samples.length, sample)
  }
  await service.end('SIGTERM')
  const againMs = performance.now()
  service = await startServiceProcess(dataDir, settings)
  const restartMs = performance.now() - againMs
  await sleep(settledMs)
  const after = await sampleOf(service, minute())
  print(samples.length, after)
  await service.end('SIGTERM')
  await receiver[Symbol.asyncDispose]()
  const rest = { first, after, firstStartMs, restartMs }
  const figures = [...runFigures(samples), ...restFigures(rest), ...fileFigures(dataDir, samples)]
  for (const figure of figures) printFigure(figure)
  if (values.keep) process.stdout.write(`${dataDir}\n`)
  else rmSync(dataDir, { recursive: true })
  if (!values['no-report']) report(figures, samples, { minutes, streams })
  process.exitCode = figures.some(({ isMet }) => isMet === false) ? 1 : 0
}

/** Resolves when nothing is left to be removed. */
async function untilGone({ http }: ServiceProcess): Promise<void> {
  for (;;) {
    const metrics = await readMetrics(http)
    const left = ['stream_deletions_pending', 'stored_streams', 'readings_late', 'shipper_lag']
    if (left.every((name) => (metrics.get(name) ?? 0) === 0)) return
    await sleep(500)
  }
}

async function sampleOf({ http, dataDir }: ServiceProcess, minute: number): Promise<Sample> {
  const metrics = await readMetrics(http)
  const mb = (name: string) => (metrics.get(name) ?? 0) / 1e6
  const files = readdirSync(dataDir)
    .filter((name) => /\.(db|duckdb)(-wal|\.wal)?$/.test(name) && !name.startsWith('lock'))
    .map((name) => [name, statSync(join(dataDir, name)).size / 1e6] as const)
  return {
    minute,
    rssMb: mb('process_resident_memory_bytes'),
    heapMb: mb('nodejs_heap_size_used_bytes'),
    workerMb: mb('worker_heap_bytes'),
    streams: metrics.get('stored_streams') ?? 0,
    files: Object.fromEntries(files),
  }
}

function print(round: number, { minute, rssMb, heapMb, workerMb, files }: Sample): void {
  const sizes = Object.entries(files).map(([name, size]) => `${name} ${size.toFixed(1)}`)
  process.stdout.write(
    `round ${round}, minute ${minute.toFixed(1)}: ${rssMb.toFixed(0)} MB resident, heap of the network thread ${heapMb.toFixed(0)} MB, of the worker ${workerMb.toFixed(0)}; ${sizes.join(', ')}\n`,
  )
}

/** Whether the last third of the rounds has more than the one before; the first third fills what has a limit. */
function growth(values: readonly number[]): { readonly text: string; readonly isFlat: boolean } {
  const third = Math.floor(values.length / 3)
  const before = median(values.slice(third, 2 * third))
  const last = median(values.slice(-third))
  const text = `${before.toFixed(0)} MB in the second third of the rounds, ${last.toFixed(0)} in the last`
  return { text, isFlat: third > 0 && last - before <= Math.max(slackMb, before * slackShare) }
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0
}

function runFigures(samples: readonly Sample[]): Figure[] {
  const rss = growth(samples.map(({ rssMb }) => rssMb))
  const heap = growth(samples.map(({ heapMb }) => heapMb))
  const worker = growth(samples.map(({ workerMb }) => workerMb))
  const name = `resident memory over ${samples.length} rounds`
  return [
    { name, measured: rss.text, target: 'flat', isMet: rss.isFlat },
    {
      name: 'heap of the network thread',
      measured: heap.text,
      target: 'flat',
      isMet: heap.isFlat,
    },
    {
      name: 'heap of the worker',
      measured: worker.text,
      target: 'flat',
      isMet: worker.isFlat,
    },
  ]
}

interface Rest {
  readonly first: Sample
  readonly after: Sample
  readonly firstStartMs: number
  readonly restartMs: number
}

function restFigures({ first, after, firstStartMs, restartMs }: Rest): Figure[] {
  return [
    {
      name: 'resident memory after a restart with nobody left',
      measured: `${after.rssMb.toFixed(0)} MB, and ${first.rssMb.toFixed(0)} in an empty folder`,
      target: 'as in an empty folder',
      isMet: after.rssMb - first.rssMb <= 2 * slackMb,
    },
    {
      name: 'time of that start',
      measured: `${(restartMs / 1_000).toFixed(1)} s, and ${(firstStartMs / 1_000).toFixed(1)} s in an empty folder`,
      target: 'as in an empty folder',
      isMet: restartMs <= firstStartMs * 1.5 + 1_000,
    },
  ]
}

function fileFigures(dataDir: string, samples: readonly Sample[]): Figure[] {
  const duckDb = growth(samples.map(({ files }) => files['time-series.duckdb'] ?? 0))
  const mqtt = growth(samples.map(({ files }) => files['mqtt-sessions.db'] ?? 0))
  const { kept, rest, free } = stateBytes(join(dataDir, 'state.db'))
  return [
    { name: 'time-series.duckdb', measured: duckDb.text, target: 'flat', isMet: duckDb.isFlat },
    { name: 'mqtt-sessions.db', measured: mqtt.text, target: 'flat', isMet: mqtt.isFlat },
    {
      name: 'state.db in the end',
      measured: `${mbOf(kept)} of events, deliveries, inboxes, the audit log and notes of deletions, which are kept for days; ${mbOf(free)} free; ${mbOf(rest)} of everything else`,
      target: 'under 2 MB of everything else',
      isMet: rest < 2e6,
    },
  ]
}

function stateBytes(path: string): { kept: number; rest: number; free: number } {
  using state = new DatabaseSync(path, { readOnly: true })
  let [kept, rest] = [0, 0]
  const sizes = state.prepare('SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name').all()
  for (const { name, bytes } of sizes) {
    if (keptForDays.test(String(name))) kept += Number(bytes)
    else rest += Number(bytes)
  }
  const free = Number(state.prepare('PRAGMA freelist_count').get()?.['freelist_count'])
  return { kept, rest, free: free * 4_096 }
}

function mbOf(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

function report(
  figures: readonly Figure[],
  samples: readonly Sample[],
  { minutes, streams }: { readonly minutes: number; readonly streams: number },
): void {
  const rows = samples.map(({ minute, rssMb, heapMb, workerMb, files }, index) => {
    const size = (name: string) => (files[name] ?? 0).toFixed(1)
    return `| ${index + 1} | ${minute.toFixed(1)} | ${rssMb.toFixed(0)} | ${heapMb.toFixed(0)} | ${workerMb.toFixed(0)} | ${size('state.db')} | ${size('time-series.duckdb')} | ${size('mqtt-sessions.db')} | ${size('journal.db')} |`
  })
  writeReport({
    file: 'bench/REPORT-soak.md',
    title: 'What passing users leave behind',
    command: `npm run bench:soak -- --minutes ${minutes} --streams ${streams}`,
    notes: `In each round a user comes with a key, makes ${streams.toLocaleString('en')} streams with windows, alert rules and retention, an inbound
webhook, a rule for all streams, two webhooks, a device with a kept MQTT session, retained messages, an export and an import; sends each stream four
readings, of which one sets off an alert, one comes twice and one is refused; deletes all of it, and is deleted. Then the service comes to
rest, and is looked at. The journal keeps its newest 64 MiB for those who follow streams, so it grows up to that.

| round | minute | resident, MB | heap of the network thread, MB | heap of the worker, MB | state.db, MB | time-series.duckdb, MB | mqtt-sessions.db, MB | journal.db, MB |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}`,
    figures,
  })
}

await main()
