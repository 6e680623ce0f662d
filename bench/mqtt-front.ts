import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { parseArgs } from 'node:util'
import { freePort } from '../scripts/servers/free-port.ts'
import { makeCertificate } from '../test/support/certificate.ts'
import { externalBroker } from './external-broker.ts'
import { hostileLoad } from './hostile-load.ts'
import { LatencyHistogram } from './latency-histogram.ts'
import { Crowd } from './mqtt-crowd.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import { type Figure, type Measurements, measureAll, writeReport } from './report.ts'
import {
  flagsOf,
  mqttFlags,
  runGenerator,
  type StreamvaultTarget,
  startStreamvault,
} from './servers.ts'

const measurements: Measurements = {
  idle: () => idleConnections(5_000),
  'fan-out': () => fanOut(1_000, 50),
  tls: () => tlsRatio(3, 4),
  external: () => externalBroker(100_000),
  hostile: () => hostileLoad(),
}

/**
 * What the broker costs and takes, beside the rate of readings that `bench/run.ts` measures. Words
 * choose some of the measurements, and then nothing is written.
 */
async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true })
  const figures = await measureAll(measurements, positionals)
  if (positionals.length > 0) return
  writeReport({
    file: 'bench/REPORT-mqtt.md',
    title: 'What the MQTT broker does on one machine',
    command: 'npm run bench:mqtt',
    notes,
    figures,
  })
}

const notes = `Memory is that of the whole process, after its garbage was collected: connections are all that has
come in between. All subscribers and publishers are in one process beside the service, and their
share of the two cores is in every figure. So is that of mosquitto, where readings come from there.`

/** Memory of connections that are held and silent, after garbage was collected. */
async function idleConnections(size: number): Promise<Figure> {
  const collector = new URL('gc-on-signal.ts', import.meta.url).href
  const service = await startStreamvault(1, { NODE_OPTIONS: `--import ${collector}` })
  // What the first connections make once, and keep, is not the price of one.
  const first = await Crowd.gather(service, { size: 50 })
  await first.leave()
  const before = await settledMemory(service)
  const crowd = await Crowd.gather(service, { size })
  const after = await settledMemory(service)
  const held = (await service.metrics()).get('mqtt_connections') ?? 0
  await crowd.leave()
  await service.stop()
  const perConnection = (after - before) / size / 1_024
  return {
    name: `${thousands(size)} idle MQTT connections`,
    measured: `${thousands(held)} held, ${crowd.lost.length} lost; ${perConnection.toFixed(1)} KB each (${mb(before)} MB before, ${mb(after)} MB with them)`,
    target: 'under 40 KB each',
    isMet: held >= size && crowd.lost.length === 0 && perConnection < 40,
  }
}

/** Resident memory in bytes, the lowest of a few moments after garbage was collected. */
async function settledMemory(service: StreamvaultTarget): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY
  for (let look = 0; look < 5; look++) {
    process.kill(service.pid, 'SIGUSR2')
    await sleep(700)
    lowest = Math.min(
      lowest,
      (await service.metrics()).get('process_resident_memory_bytes') ?? lowest,
    )
  }
  return lowest
}

/** How long a round of the fan-out is waited for. */
const patienceMs = 5_000

/** From the publish of a reading until the last of many subscribers has it. */
async function fanOut(size: number, rounds: number): Promise<Figure> {
  const service = await startStreamvault(1)
  const [topic = ''] = service.topics
  let arrived = 0
  let everybody = Promise.withResolvers<true>()
  const crowd = await Crowd.gather(service, {
    size,
    filter: topic,
    onMessage() {
      arrived++
      if (arrived === size) everybody.resolve(true)
    },
  })
  const latency = new LatencyHistogram()
  let incomplete = ''
  const { connectAsync } = await import('mqtt')
  const { username = '', password = '' } = service
  const publisher = await connectAsync(`mqtt://127.0.0.1:${service.port}`, { username, password })
  // The first rounds are slower: functions are compiled, and the stream is looked up.
  for (let round = -5; round < rounds; round++) {
    arrived = 0
    everybody = Promise.withResolvers<true>()
    await sleep(50)
    const payload = JSON.stringify({ temperature: 20 + round, humidity: 50, status: 'running' })
    const startedMs = performance.now()
    publisher.publish(topic, payload, { qos: 1 })
    const isComplete = await Promise.race([everybody.promise, sleep(patienceMs, false)])
    if (round >= 0) latency.record((performance.now() - startedMs) * 1_000)
    if (isComplete) continue
    incomplete = `; then only ${thousands(arrived)} had it within ${patienceMs / 1_000} s`
    break
  }
  await publisher.endAsync()
  await crowd.leave()
  await service.stop()
  const [p50, p99] = [latency.percentile(50) / 1_000, latency.percentile(99) / 1_000]
  return {
    name: `one reading to ${thousands(size)} subscribers: until the last one has it`,
    measured: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms of ${latency.count}, from the publish on${incomplete}`,
    target: 'p99 under 100 ms',
    isMet: p99 < 100 && incomplete === '' && crowd.lost.length === 0,
  }
}

/** Puts on one load with TLS and without, in turns. */
async function tlsRatio(rounds: number, seconds: number): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), 'streamvault-bench-'))
  const { certPath, keyPath, authority } = makeCertificate(folder)
  // For the requests that make the streams: with TLS for MQTT, HTTP has it, too.
  setDefaultCACertificates([...getCACertificates(), authority])
  const plain: number[] = []
  const secure: number[] = []
  for (let round = 0; round < rounds; round++) {
    const port = await freePort()
    const service = await startStreamvault(20, {
      STREAMVAULT_TLS_CERT: certPath,
      STREAMVAULT_TLS_KEY: keyPath,
      STREAMVAULT_MQTTS_PORT: String(port),
    })
    const load = flagsOf({ connections: 20, 'in-flight': 20, seconds, warmup: 2 })
    const run = async (flags: readonly string[]) =>
      (await runGenerator<MqttLoadResult>('mqtt-load', [...flags, ...load])).perSecond
    plain.push(await run(mqttFlags(service)))
    secure.push(await run(mqttFlags({ ...service, port, ca: certPath })))
    await service.stop()
  }
  rmSync(folder, { recursive: true })
  const ratios = secure.map((rate, round) => rate / (plain[round] ?? 1))
  const ratio = ratios.toSorted((left, right) => left - right)[Math.floor(rounds / 2)] ?? 0
  return {
    name: 'MQTT QoS 1 over TLS, 20 connections x 20 in flight, against the same without',
    measured: `${secure.map(thousands).join(', ')}/s; without ${plain.map(thousands).join(', ')}/s; ratio ${ratio.toFixed(2)} (${ratios.map((one) => one.toFixed(2)).join(', ')})`,
    target: 'ratio 0.7',
    isMet: ratio >= 0.7,
  }
}

function thousands(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}

await main()
