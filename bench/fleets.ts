import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connectAsync, type MqttClient } from 'mqtt'
import { loadFleet, medianOf, warmupOf } from './fleet.ts'
import type { LineLoadResult } from './line-load.ts'
import type { MqttLoadResult } from './mqtt-load.ts'
import { type Figure, measureAll } from './report.ts'
import {
  flagsOf,
  mqttFlags,
  readingSchema,
  runGenerator,
  type StreamvaultTarget,
  startStreamvault,
} from './servers.ts'

const newDevices = 10_000
const gateways = 10
const secondsMax = 20
const othersMsMax = 50

/** Makes a fleet; its topic is `tele/{device}/SENSOR`, and the tag `host` names the device. */
async function makeFleet({ api }: StreamvaultTarget, schema: object): Promise<string> {
  const answer = await api.withToken<{ fleetId: string }>('POST', '/fleets', {
    name: 'devices',
    vaultId: await api.createVault(),
    streamsMax: 100_000,
    definition: {
      type: 'iot_sensor',
      source: { topic: 'tele/{device}/SENSOR', deviceField: 'host' },
      schema,
    },
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.fleetId
}

async function connected({ port, username, password }: StreamvaultTarget): Promise<MqttClient> {
  return await connectAsync(`mqtt://127.0.0.1:${port}`, {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  })
}

/** Seconds in which others are measured: a burst takes longer. */
const othersSeconds = 3

/** One reading of each of many new devices, at once, and how long those of others take meanwhile. */
async function newDevicesAtOnce(): Promise<Figure> {
  const target = await startStreamvault(1)
  await makeFleet(target, { temperature: { type: 'number' } })
  const clients = await Promise.all(Array.from({ length: gateways }, () => connected(target)))
  // In a process of its own: this one has ten thousand messages to encode first.
  const others = runGenerator<MqttLoadResult>('mqtt-load', [
    ...mqttFlags(target),
    ...flagsOf({ connections: 1, 'in-flight': 1, seconds: othersSeconds, warmup: 1 }),
  ])
  await sleep(1_000)
  const start = performance.now()
  await Promise.all(
    Array.from({ length: newDevices }, async (_, device) => {
      const payload = '{"temperature":2}'
      await clients[device % gateways]?.publishAsync(topicOf(device), payload, { qos: 1 })
    }),
  )
  const seconds = (performance.now() - start) / 1_000
  const { p50, p99 } = (await others).latencyUs
  await Promise.all(clients.map((client) => client.endAsync()))
  await target.stop()
  return {
    name: `${newDevices.toLocaleString('en')} new devices at once: all streams made, and first readings acknowledged`,
    measured: `${seconds.toFixed(1)} s; others meanwhile p50 ${(p50 / 1_000).toFixed(1)} ms, p99 ${(p99 / 1_000).toFixed(0)} ms`,
    target: `${secondsMax} s, p99 ${othersMsMax} ms`,
    isMet: seconds <= secondsMax && p99 < othersMsMax * 1_000,
  }
}

/** The topic of a device. All are as long, as the generator needs them. */
function topicOf(device: number): string {
  return `tele/device-${String(device).padStart(5, '0')}/SENSOR`
}

const linesWanted = 300_000

/** Lines that are acknowledged, in bodies of 5,000. */
async function lines(): Promise<Figure> {
  const target = await startStreamvault(0)
  await makeFleet(target, {
    value: { type: 'number' },
    measurement: { type: 'string' },
    host: { type: 'string' },
  })
  const authorization = `Token ${target.username}:${target.password}`
  const flags = { port: new URL(target.http).port, path: '/write?db=devices', authorization }
  const rates: number[] = []
  await runGenerator<LineLoadResult>('line-load', flagsOf({ ...flags, bodies: 100 }))
  for (let round = 0; round < 3; round++) {
    const {
      lines: count,
      seconds,
      refused,
    } = await runGenerator<LineLoadResult>('line-load', flagsOf(flags))
    if (refused > 0) throw new Error(`${refused} lines were refused`)
    rates.push(count / seconds)
  }
  await target.stop()
  const rate = medianOf(rates)
  return {
    name: 'lines of InfluxDB over HTTP, in bodies of 5,000, of 20 devices: acknowledged a second',
    measured: `${Math.round(rate).toLocaleString('en')} (${rates.map((one) => Math.round(one).toLocaleString('en')).join('; ')})`,
    target: linesWanted.toLocaleString('en'),
    isMet: rate >= linesWanted,
  }
}

const manyStreams = 20_000
const ratioMin = 0.8

/** Acknowledgements of a fleet of many devices, and of ten ordinary streams: pairs of runs, in turn. */
async function manyDevices(): Promise<Figure> {
  const ratios: number[] = []
  const rates: string[] = []
  for (let round = 0; round < 3; round++) {
    const few = await rateOf(10)
    const many = await rateOf(manyStreams)
    ratios.push(many / few)
    rates.push(
      `${Math.round(many).toLocaleString('en')} and ${Math.round(few).toLocaleString('en')}`,
    )
  }
  const ratio = medianOf(ratios)
  return {
    name: `a fleet of ${manyStreams.toLocaleString('en')} devices, and ten streams: acknowledgements a second`,
    measured: `${rates.join(', ')}; ratio ${ratio.toFixed(2)}`,
    target: `ratio ${ratioMin}`,
    isMet: ratio >= ratioMin,
  }
}

async function rateOf(streams: number): Promise<number> {
  const isFleet = streams === manyStreams
  const target = await startStreamvault(isFleet ? 0 : streams)
  if (isFleet) await makeFleet(target, readingSchema)
  const topics = isFleet
    ? Array.from({ length: streams }, (_, device) => topicOf(device))
    : target.topics
  const inTurns = Array.from(
    { length: manyStreams },
    (_, turn) => topics[turn % topics.length] ?? '',
  )
  const { perSecond } = await loadFleet(target, inTurns, {
    seconds: 5,
    warmup: isFleet ? 4 * warmupOf(streams) : warmupOf(streams),
  })
  await target.stop()
  return perSecond
}

/** By itself with `npm run bench:fleets`; words choose among `new`, `lines` and `many`. */
async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true })
  await measureAll({ new: newDevicesAtOnce, lines, many: manyDevices }, positionals)
}

if (import.meta.main) await main()
