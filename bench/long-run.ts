import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { preload } from '../test/support/preload.ts'
import {
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../test/support/service-process.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import type { Figure } from './report.ts'
import {
  flagsOf,
  mqttFlags,
  mqttTargetOf,
  readingSchema,
  readMetrics,
  runGenerator,
} from './servers.ts'

const streams = 20
const rate = 60_000

/** Late readings wait for ten times as long as the look-up before took. */
const drainSecondsMax = 600
const dayUs = 86_400_000_000

/** What the preloaded readings look like: as those of the load. */
const fields = {
  temperature: '10 + (i % 3000) / 100',
  humidity: '41.2',
  pressure: '1013.25',
  status: `'ok'`,
  sequence: '1000000 + i',
}

/** Readings at a high rate into a store that is full of older ones, some of them late by up to a month. */
export async function longRun(minutes: number, rows: number): Promise<Figure[]> {
  const dataDir = newDataDir()
  const stepUs = Math.floor((30 * dayUs) / rows)
  const startUs = Math.floor(Date.now() / 1000) * 1_000_000 - 31 * dayUs
  const streamIds = await preload(dataDir, {
    streams,
    schema: readingSchema,
    fields,
    rows,
    startUs,
    stepUs,
  })
  const storedBytes = bytesOf(dataDir, 'time-series')
  const service = await startServiceProcess(dataDir, { STREAMVAULT_CHECK_ANSWERS: 'off' })
  const samples: { lag: number; late: number; rssMb: number; journalMb: number }[] = []
  const storedBefore = await stored(service)
  const timer = setInterval(() => {
    void readMetrics(service.http).then((metrics) =>
      samples.push({
        lag: metrics.get('shipper_lag') ?? 0,
        late: metrics.get('readings_late') ?? 0,
        rssMb: (metrics.get('process_resident_memory_bytes') ?? 0) / 1e6,
        journalMb: (metrics.get('journal_bytes') ?? 0) / 1e6,
      }),
    )
  }, 1_000)
  const result = await runGenerator<MqttLoadResult>('mqtt-load', [
    ...mqttFlags(mqttTargetOf(service, streamIds)),
    ...flagsOf({ rate, seconds: minutes * 60, warmup: 5, 'late-percent': 5, 'late-days': 30 }),
  ])
  const loaded = samples.slice()
  const { acknowledged } = result.totals
  const drainedS = await untilStored(service, storedBefore + acknowledged)
  clearInterval(timer)
  await service.end('SIGTERM')
  rmSync(dataDir, { recursive: true })
  const most = (of: (sample: (typeof samples)[number]) => number) => Math.max(...samples.map(of))
  const half = Math.floor(loaded.length / 2)
  const lags = [loaded.slice(5, half), loaded.slice(half)].map(
    (some) => some.reduce((sum, { lag }) => sum + lag, 0) / some.length,
  )
  const isStored = drainedS < drainSecondsMax
  const keepsUp = result.perSecond > rate * 0.98 && (lags[1] ?? 0) < rate && isStored
  const inAll = `${isStored ? 'all' : 'not all'} ${acknowledged.toLocaleString('en')} stored ${drainedS.toFixed(0)} s after the end, of which ${most(({ late }) => late).toLocaleString('en')} waited as late at most`
  return [
    {
      name: `${rate.toLocaleString('en')}/s for ${minutes} min over ${(rows / 1e6).toFixed(0)} million older readings, 5 % late by up to 30 days`,
      measured: `${Math.round(result.perSecond).toLocaleString('en')}/s acknowledged, p99 ${(result.latencyUs.p99 / 1_000).toFixed(0)} ms; entries not stored yet: first half ${lags[0]?.toFixed(0)}, second half ${lags[1]?.toFixed(0)} on average; journal at most ${most(({ journalMb }) => journalMb).toFixed(0)} MB; ${inAll}`,
      target: 'keeps up',
      isMet: keepsUp,
    },
    {
      name: 'resident memory in that run',
      measured: `at most ${most(({ rssMb }) => rssMb).toFixed(0)} MB`,
      target: 'under 600 MB',
      isMet: most(({ rssMb }) => rssMb) < 600,
    },
    {
      name: 'bytes of a stored reading on disk, DuckDB, five fields',
      measured: (storedBytes / rows).toFixed(1),
      target: 'nothing promised',
      isMet: true,
    },
  ]
}

/** Readings that the store has, exactly once each. */
async function stored({ http }: ServiceProcess): Promise<number> {
  return (await readMetrics(http)).get('readings_stored_total') ?? 0
}

/** Seconds until so many are stored. */
async function untilStored(service: ServiceProcess, wanted: number): Promise<number> {
  const beganMs = performance.now()
  for (;;) {
    const seconds = (performance.now() - beganMs) / 1_000
    if ((await stored(service)) === wanted || seconds >= drainSecondsMax) return seconds
    await sleep(500)
  }
}

function bytesOf(folder: string, prefix: string): number {
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}
