import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { systemClock } from '../src/core/clock.ts'
import { treeOfStretch } from '../src/evidence/seals/stretch-tree.ts'
import { DuckDbStore } from '../src/storage/time-series/duckdb/duckdb-store.ts'
import { ApiClient } from '../test/support/api-client.ts'
import { preload } from '../test/support/preload.ts'
import { newDataDir, startServiceProcess } from '../test/support/service-process.ts'
import { medianOf } from './fleet.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import { measureReceipts } from './receipt-speed.ts'
import { type Figure, measureAll } from './report.ts'
import {
  flagsOf,
  mqttFlags,
  mqttTargetOf,
  readingSchema,
  readMetrics,
  runGenerator,
} from './servers.ts'

const readings = 1_000_000
const secondsMax = 10
const hourUs = 3_600_000_000
/** A past hour: each reading that comes in for it is late. */
const startUs = Date.UTC(2026, 0, 15, 10) * 1_000
const stepUs = hourUs / readings

const fields = {
  temperature: '20 + i % 3000 / 100',
  humidity: '41.2',
  pressure: '1013.25 + i % 7',
  status: `'ok'`,
  sequence: '1000000 + i',
}

/** A folder with a stream that has a million readings in one hour. */
async function filledFolder(): Promise<{ readonly dataDir: string; readonly streamId: string }> {
  const dataDir = newDataDir()
  const [streamId = ''] = await preload(dataDir, {
    streams: 1,
    schema: readingSchema,
    fields,
    rows: readings,
    startUs,
    stepUs,
  })
  return { dataDir, streamId }
}

/** The tree of a stretch by itself, by processor time of all threads: what one core needs for it. */
async function treeAlone(): Promise<Figure> {
  const { dataDir, streamId } = await filledFolder()
  const store = await DuckDbStore.open(join(dataDir, 'time-series.duckdb'), systemClock)
  const stretch = { streamId, startUs, endUs: startUs + hourUs }
  const seconds: number[] = []
  const clock: number[] = []
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage()
    const began = performance.now()
    const { count } = await treeOfStretch(store, stretch)
    if (count < readings) throw new Error(`only ${count} readings were found`)
    const { user, system } = process.cpuUsage(before)
    clock.push((performance.now() - began) / 1_000)
    seconds.push((user + system) / 1_000_000)
  }
  await store.close()
  rmSync(dataDir, { recursive: true })
  return {
    name: 'the tree over a million readings of one stretch, reading included: processor time',
    measured: `${inWords(seconds)} s (${inWords(clock)} s by the clock)`,
    target: `${secondsMax} s`,
    isMet: medianOf(seconds) <= secondsMax,
  }
}

function inWords(seconds: readonly number[]): string {
  return seconds.map((one) => one.toFixed(1)).join(', ')
}

const rate = 20_000
const loadSeconds = 20
const ratioMin = 0.9
const roundsOfLoad = 3
/** Late readings wait so long for others before their stretch is sealed again. */
const graceSeconds = 1
/** How often a seal is looked for. */
const pollMs = 200

interface SealPage {
  readonly seals: readonly { readonly revision: number; readonly count: number }[]
}

/** Readings that come in and are stored, while a million of another stream are sealed, again and again. */
async function sealing(): Promise<Figure[]> {
  const { dataDir, streamId } = await filledFolder()
  const service = await startServiceProcess(dataDir, {
    STREAMVAULT_CHECK_ANSWERS: 'off',
    STREAMVAULT_SEAL_GRACE: `${graceSeconds}s`,
  })
  const api = new ApiClient(service.http)
  const others: string[] = []
  for (let index = 0; index < 10; index++) others.push(await api.createStream(readingSchema))
  const changed = await api.withToken('PUT', `/streams/${streamId}`, { processing: { seal: '1h' } })
  if (changed.status !== 200) throw new Error(JSON.stringify(changed.body))

  /** From the first reading until all of them are stored. */
  const load = async () => {
    const began = performance.now()
    const { totals } = await runGenerator<MqttLoadResult>('mqtt-load', [
      ...mqttFlags(mqttTargetOf(service, others)),
      ...flagsOf({ rate, seconds: loadSeconds, warmup: 2 }),
    ])
    while ((await readMetrics(service.http)).get('shipper_lag') !== 0) await sleep(pollMs)
    return totals.acknowledged / ((performance.now() - began) / 1_000)
  }
  let revisions = 0
  const sealOnce = async () => {
    revisions++
    const timestamp = new Date((startUs + hourUs) / 1_000 - revisions).toISOString()
    await api.withToken('POST', `/streams/${streamId}/data`, { timestamp, temperature: revisions })
    while ((await newestOf(api, streamId)).revision < revisions) await sleep(pollMs)
  }
  const ratios: number[] = []
  const took: number[] = []
  const rates: string[] = []
  for (let round = 0; round < roundsOfLoad; round++) {
    const quiet = await load()
    const besides = await beside(load, sealOnce)
    took.push(...besides.seconds)
    ratios.push(besides.rate / quiet)
    rates.push(
      `${Math.round(besides.rate).toLocaleString('en')} and ${Math.round(quiet).toLocaleString('en')}`,
    )
  }
  const { count } = await newestOf(api, streamId)
  await service.end('SIGTERM')
  rmSync(dataDir, { recursive: true })
  if (count < readings) throw new Error(`only ${count} readings are sealed`)
  const ratio = medianOf(ratios)
  return [
    {
      name: `${rate.toLocaleString('en')} readings a second beside seals of a million, and without: readings stored a second`,
      measured: `${rates.join(', ')}; ratio ${ratio.toFixed(2)}`,
      target: `ratio ${ratioMin}`,
      isMet: ratio >= ratioMin,
    },
    {
      name: `a million readings sealed beside ${rate.toLocaleString('en')} readings a second: by the clock`,
      measured: took.map((one) => `${one.toFixed(1)} s`).join(', '),
      target: `${secondsMax} s with a core of its own`,
      isMet: medianOf(took) <= secondsMax,
    },
  ]
}

async function newestOf(api: ApiClient, streamId: string): Promise<SealPage['seals'][number]> {
  const range = `start=${instant(startUs)}&end=${instant(startUs + hourUs)}`
  const { body } = await api.withToken<SealPage>('GET', `/streams/${streamId}/seals?${range}`)
  return body.seals.at(-1) ?? { revision: 0, count: 0 }
}

function instant(us: number): string {
  return new Date(us / 1_000).toISOString()
}

/** Seals again and again while there is load; how long each seal took that was begun and done meanwhile. */
async function beside(load: () => Promise<number>, work: () => Promise<void>) {
  const state = { isOver: false }
  const seconds: number[] = []
  const working = async () => {
    while (!state.isOver) {
      const began = performance.now()
      await work()
      if (!state.isOver) seconds.push((performance.now() - began) / 1_000 - graceSeconds)
    }
  }
  const ended = working()
  const result = await load()
  state.isOver = true
  await ended
  return { rate: result, seconds }
}

/** By itself with `npm run bench:evidence`; words choose among its measurements. */
async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true })
  await measureAll({ tree: treeAlone, seal: sealing, receipt: measureReceipts }, positionals)
}

if (import.meta.main) await main()
