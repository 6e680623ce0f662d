import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { newDataDir, startServiceProcess } from '../test/support/service-process.ts'
import type { HttpLoadResult } from './http-load.ts'
import { LatencyHistogram } from './latency-histogram.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import type { Figure } from './report.ts'
import {
  flagsOf,
  mqttFlags,
  runGenerator,
  type StreamvaultTarget,
  startMosquitto,
  startStreamvault,
} from './servers.ts'

const connections = 20
const streams = 20

/** Acknowledgements after fsync here, from memory in mosquitto: pairs of runs, in turn. */
export async function acknowledgedRate(rounds: number, seconds: number): Promise<Figure[]> {
  const shape = { connections, 'in-flight': 20, seconds }
  const ours: MqttLoadResult[] = []
  const theirs: MqttLoadResult[] = []
  for (let round = 0; round < rounds; round++) {
    const streamvault = await startStreamvault(streams)
    const load = [...mqttFlags(streamvault), ...flagsOf({ ...shape, warmup: 2 })]
    ours.push(await runGenerator<MqttLoadResult>('mqtt-load', load))
    await streamvault.stop()
    const mosquitto = await startMosquitto(streamvault.topics)
    const same = [...mqttFlags(mosquitto), ...flagsOf({ ...shape, warmup: 1 })]
    theirs.push(await runGenerator<MqttLoadResult>('mqtt-load', same))
    await mosquitto.stop()
  }
  const ratios = ours.map((result, round) => result.perSecond / (theirs[round]?.perSecond ?? 1))
  const ratio = median(ratios)
  return [
    {
      name: `MQTT QoS 1, ${connections} connections x 20 in flight, acknowledged after fsync`,
      measured: `${rates(ours)}/s; mosquitto from memory ${rates(theirs)}/s; ratio ${ratio.toFixed(2)} (${ratios.map((one) => one.toFixed(2)).join(', ')})`,
      target: 'ratio 0.8',
      isMet: ratio >= 0.8,
    },
    await openLoop(median(ours.map(({ perSecond }) => perSecond)) / 2, seconds),
  ]
}

function rates(results: readonly MqttLoadResult[]): string {
  return results.map(({ perSecond }) => thousands(perSecond)).join(', ')
}

async function openLoop(rate: number, seconds: number): Promise<Figure> {
  const streamvault = await startStreamvault(streams)
  const result = await runGenerator<MqttLoadResult>('mqtt-load', [
    ...mqttFlags(streamvault),
    ...flagsOf({ rate: Math.round(rate), seconds: seconds * 2, warmup: 2 }),
  ])
  await streamvault.stop()
  const { p50, p99, max } = result.latencyUs
  return {
    name: `open loop at half that rate (${thousands(rate)}/s): time to the acknowledgement`,
    measured: `p50 ${ms(p50)}, p99 ${ms(p99)}, max ${ms(max)}`,
    target: 'p99 under 25 ms',
    isMet: p99 < 25_000,
  }
}

/** Many readings a second for a while: does the store keep up, and does memory stay put? */
export async function sustained(rate: number, seconds: number): Promise<Figure[]> {
  const streamvault = await startStreamvault(streams)
  const load = runGenerator<MqttLoadResult>('mqtt-load', [
    ...mqttFlags(streamvault),
    ...flagsOf({ rate, seconds, warmup: 5 }),
  ])
  const samples: { lag: number; rssMb: number; journalMb: number }[] = []
  const sampling = sampleWhile(load, async () => {
    const metrics = await streamvault.metrics()
    samples.push({
      lag: metrics.get('shipper_lag') ?? 0,
      rssMb: (metrics.get('process_resident_memory_bytes') ?? 0) / 1e6,
      journalMb: (metrics.get('journal_bytes') ?? 0) / 1e6,
    })
  })
  const result = await load
  await sampling
  await streamvault.stop()
  const half = samples.slice(Math.floor(samples.length / 2))
  const [early, late] = [samples.slice(2, Math.floor(samples.length / 2)), half]
  const lag = { early: mean(early.map((one) => one.lag)), late: mean(late.map((one) => one.lag)) }
  const rss = Math.max(...samples.map((one) => one.rssMb))
  const growth = mean(late.map((one) => one.rssMb)) - mean(early.map((one) => one.rssMb))
  const isSteady = lag.late < rate && result.perSecond > rate * 0.98
  return [
    {
      name: `sustained ${thousands(rate)}/s into DuckDB for ${seconds} s`,
      measured: `${thousands(result.perSecond)}/s acknowledged; entries not stored yet: first half ${lag.early.toFixed(0)}, second half ${lag.late.toFixed(0)} on average; journal at most ${Math.max(...samples.map((one) => one.journalMb)).toFixed(0)} MB`,
      target: 'journal not growing',
      isMet: isSteady,
    },
    {
      name: 'resident memory in that run',
      measured: `at most ${rss.toFixed(0)} MB; second half ${growth >= 0 ? '+' : ''}${growth.toFixed(0)} MB over the first`,
      target: 'under 400 MB, flat',
      isMet: rss < 400 && growth < 20,
    },
  ]
}

/** From the acknowledgement of a reading to its first appearance in a query, under load. */
export async function acknowledgedToQueryable(rate: number, seconds: number): Promise<Figure> {
  const streamvault = await startStreamvault(streams + 1)
  const [probe = '', ...loaded] = streamvault.streamIds
  const topics = loaded.map((id) => `streams/${id}/data`)
  const load = runGenerator<MqttLoadResult>('mqtt-load', [
    ...mqttFlags({ ...streamvault, topics }),
    ...flagsOf({ rate, seconds, warmup: 2 }),
  ])
  const latency = new LatencyHistogram()
  await sampleWhile(load, async () => latency.record(await timeUntilQueryable(streamvault, probe)))
  await load
  await streamvault.stop()
  const [p50, p99] = [latency.percentile(50), latency.percentile(99)]
  return {
    name: `acknowledged to queryable at ${thousands(rate)}/s`,
    measured: `p50 ${ms(p50)}, p99 ${ms(p99)}, max ${ms(latency.max)} (${latency.count} probes)`,
    target: 'p99 under 1 s',
    isMet: p99 < 1_000_000,
  }
}

async function timeUntilQueryable({ api }: StreamvaultTarget, probe: string): Promise<number> {
  const timestamp = new Date().toISOString()
  await api.withToken('POST', `/streams/${probe}/data`, { timestamp, temperature: 1 })
  const acknowledgedMs = performance.now()
  for (;;) {
    const path = `/streams/${probe}/data?limit=1&start=${timestamp}`
    const { body } = await api.withToken<{ data: readonly unknown[] }>('GET', path)
    if (body.data.length > 0) return (performance.now() - acknowledgedMs) * 1000
    await sleep(5)
  }
}

/** HTTP with a bearer token: single readings, and arrays of 100. */
export async function httpRates(seconds: number): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { batch, target } of [
    { batch: 1, target: 15_000 },
    { batch: 100, target: 200_000 },
  ]) {
    const streamvault = await startStreamvault(streams)
    const result = await runGenerator<HttpLoadResult>('http-load', [
      ...flagsOf({
        host: '127.0.0.1',
        port: new URL(streamvault.http).port,
        token: await streamvault.api.token(),
        batch,
        connections: batch === 1 ? 50 : 10,
        seconds,
        warmup: 2,
      }),
      ...streamvault.streamIds.flatMap((id) => ['--stream', id]),
    ])
    await streamvault.stop()
    const { p50, p99 } = result.latencyUs
    figures.push({
      name: batch === 1 ? 'HTTP, single readings, bearer token' : `HTTP, arrays of ${batch}`,
      measured: `${thousands(result.readingsPerSecond)} readings/s; p50 ${ms(p50)}, p99 ${ms(p99)}`,
      target: `${thousands(target)} readings/s`,
      isMet: result.readingsPerSecond >= target,
    })
  }
  return figures
}

/** From the start of the process to `listening`, in an empty folder. */
export async function startTime(runs: number): Promise<Figure> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const dataDir = newDataDir()
    const startedMs = performance.now()
    // Without a given key, so that the start makes one, as it does for a new user.
    const generated = { STREAMVAULT_ADMIN_KEY: '', STREAMVAULT_ADMIN_SECRET: '' }
    const service = await startServiceProcess(dataDir, generated)
    times.push((performance.now() - startedMs) * 1000)
    await service.end('SIGTERM')
    rmSync(dataDir, { recursive: true })
  }
  const slowest = Math.max(...times)
  return {
    name: `start to listening, empty folder, ${runs} starts`,
    measured: `median ${ms(median(times))}, slowest ${ms(slowest)}`,
    target: 'under 1.5 s',
    isMet: slowest < 1_500_000,
  }
}

/** Repeats a measurement, about ten times a second, until the load has ended. */
async function sampleWhile(load: Promise<unknown>, sample: () => Promise<void>): Promise<void> {
  const progress = { isOver: false }
  const ended = load.finally(() => {
    progress.isOver = true
  })
  while (!progress.isOver) {
    await sample()
    await sleep(100)
  }
  await ended
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

function thousands(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function ms(us: number): string {
  return `${(us / 1000).toFixed(us < 10_000 ? 1 : 0)} ms`
}
