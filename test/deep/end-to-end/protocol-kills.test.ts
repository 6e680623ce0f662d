import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { freePort } from '../../../scripts/servers/free-port.ts'
import { ApiClient, type DataPage } from '../../support/api-client.ts'
import { LineSender, MetricSender, type NumberedSender } from '../../support/numbered-senders.ts'
import { isPrometheusMissing, Prometheus } from '../../support/prometheus.ts'
import { createFleet, type ProtocolFleet, readingsByDevice } from '../../support/protocol-fleet.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { adminKey, adminSecret } from '../../support/service-process.ts'
import { startedServices } from '../../support/started-services.ts'

/** Clients of other protocols lose nothing while the service is killed ten times. */

const services = startedServices()
const kills = 10

/** A service that always has the same address. */
async function killedService() {
  const port = await freePort()
  const dataDir = services.newFolder()
  const start = () => services.start(dataDir, { STREAMVAULT_HTTP_PORT: String(port) })
  const random = new SeededRandom(20_261_127)
  let process = await start()
  return {
    url: `http://127.0.0.1:${port}`,
    api: new ApiClient(`http://127.0.0.1:${port}`),
    /** Kills it, each time at another moment after there was something new. */
    async killAgainAndAgain(count: () => number | Promise<number>): Promise<void> {
      for (let life = 0; life < kills; life++) {
        const before = await count()
        await expect.poll(count, { interval: 20 }).toBeGreaterThan(before)
        await sleep(random.integer(0, 500))
        await process.end('SIGKILL')
        process = await start()
      }
    },
  }
}

type Row = DataPage['data'][number]

/** Numbers of rows by the streams that they are in. */
async function numbersIn(
  api: ApiClient,
  fleet: ProtocolFleet,
  numberOf: (row: Row) => number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const readings = await readingsByDevice(api, fleet)
  return new Map([...readings].map(([device, rows]) => [device, rows.map(numberOf)]))
}

/** The numbers of all rows that each device should have. */
function expectedOf({ acknowledged, devices }: NumberedSender, name: string) {
  const expected = new Map<string, readonly number[]>()
  for (let device = 0; device < devices; device++) {
    const own = [...acknowledged].filter((number) => number % devices === device)
    expected.set(
      `${name} ${device}`,
      own.toSorted((left, right) => left - right),
    )
  }
  return expected
}

const schema = { n: { type: 'integer' } }

test('line protocol of a client of InfluxDB', async () => {
  const service = await killedService()
  const { url, api } = service
  const fleet = await createFleet(api, { name: 'lines', deviceField: 'host', schema })
  const sender = new LineSender(url, fleet.name)
  const ending = new AbortController()
  const running = sender.run(ending.signal)
  await service.killAgainAndAgain(() => sender.acknowledged.size)
  ending.abort()
  await running

  const stored = await numbersIn(api, fleet, ({ n }) => Number(n))
  expect(sender.acknowledged.size).toBeGreaterThan(1_000)
  expect(sorted(stored)).toEqual(sorted(expectedOf(sender, 'line')))
})

test('metrics of an exporter of OpenTelemetry', async () => {
  const service = await killedService()
  const { url, api } = service
  const fleet = await createFleet(api, { name: 'metrics', deviceField: 'host' })
  const sender = new MetricSender(`${url}/v1/metrics?fleet=${fleet.name}`)
  const ending = new AbortController()
  const running = sender.run(ending.signal)
  await service.killAgainAndAgain(() => sender.acknowledged.size)
  ending.abort()
  await running

  const stored = await numbersIn(api, fleet, ({ value }) => Number(value))
  expect(sender.acknowledged.size).toBeGreaterThan(20)
  expect(sorted(stored)).toEqual(sorted(expectedOf(sender, 'metric')))
})

/** In the order of the devices, and of their numbers. */
function sorted(numbers: ReadonlyMap<string, readonly number[]>) {
  return [...numbers]
    .map(([device, own]) => [device, own.toSorted((left, right) => left - right)] as const)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
}

interface StoredSeries {
  readonly metric: { readonly instance: string; readonly index: string }
  readonly values: readonly (readonly [timeS: number, value: string])[]
}

/** Samples by instance, as Prometheus itself has stored them, up to a time. */
async function samplesOf({ url }: Prometheus, untilMs: number) {
  const query = new URLSearchParams({ query: 'n[1h]' })
  const answer = await fetch(`${url}/api/v1/query?${query.toString()}`)
  const { data } = (await answer.json()) as { data: { result: readonly StoredSeries[] } }
  return byDevice(
    data.result.flatMap(({ metric: { instance, index }, values }) =>
      values.map(([timeS, value]) => sampleOf(instance, [Math.round(timeS * 1_000), index, value])),
    ),
    untilMs,
  )
}

function sampleOf(device: string, [timeMs, index, value]: readonly [number, unknown, unknown]) {
  return { device, timeMs, text: `${timeMs} ${String(index)} ${String(value)}` }
}

function byDevice(samples: readonly ReturnType<typeof sampleOf>[], untilMs: number) {
  const own = Map.groupBy(
    samples.filter(({ timeMs }) => timeMs <= untilMs),
    ({ device }) => device,
  )
  return [...own]
    .map(([device, some]) => [device, some.map(({ text }) => text).toSorted()] as const)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
}

describe.skipIf(isPrometheusMissing)('Prometheus', () => {
  const machines: Server[] = []

  afterEach(async () => {
    for (const machine of machines.splice(0)) {
      machine.closeAllConnections()
      await new Promise((resolve) => machine.close(resolve))
    }
  })

  /** A machine that counts how often it is asked. */
  async function newMachine(): Promise<string> {
    let scrapes = 0
    const machine = createServer((_, answer) => {
      answer.setHeader('content-type', 'text/plain; version=0.0.4')
      const lines = Array.from(
        { length: 20 },
        (__, index) => `n{index="${index}"} ${String(scrapes)}\n`,
      )
      scrapes++
      answer.end(lines.join(''))
    })
    await new Promise<void>((resolve) => machine.listen(0, '127.0.0.1', resolve))
    machines.push(machine)
    return `127.0.0.1:${(machine.address() as AddressInfo).port}`
  }

  test('has all of its samples here, each once', async () => {
    const service = await killedService()
    const { url, api } = service
    const fleet = await createFleet(api, { name: 'samples', deviceField: 'instance' })
    const targets = [await newMachine(), await newMachine(), await newMachine()]
    await using prometheus = await Prometheus.start(`
global:
  scrape_interval: 250ms
scrape_configs:
  - job_name: machines
    scrape_timeout: 250ms
    static_configs: [{targets: ${JSON.stringify(targets)}}]
remote_write:
  - url: ${url}/api/v1/write?fleet=samples
    basic_auth: {username: ${adminKey}, password: ${adminSecret}}
    queue_config: {batch_send_deadline: 100ms, min_backoff: 20ms, max_backoff: 200ms}
    write_relabel_configs: [{source_labels: [__name__], regex: n, action: keep}]
`)
    const sent = async () => {
      const text = await (await fetch(`${prometheus.url}/metrics`)).text()
      return Number(/^prometheus_remote_storage_samples_total\{.*\} (\S+)$/m.exec(text)?.[1] ?? 0)
    }
    await service.killAgainAndAgain(sent)
    const untilMs = Date.now() - 1_000
    const stored = async () => {
      const readings = await readingsByDevice(api, fleet)
      const rows = [...readings].flatMap(([device, own]) =>
        own.map((row) => [device, row] as const),
      )
      return byDevice(
        rows.map(([device, { timestamp, value, extra }]) => {
          const { index, instance } = extra as { index: string; instance: string }
          expect(instance).toBe(device)
          return sampleOf(device, [Date.parse(String(timestamp)), index, value])
        }),
        untilMs,
      )
    }
    await expect
      .poll(async () => (await stored()).flatMap(([, own]) => own).length, { interval: 1_000 })
      .toBe((await samplesOf(prometheus, untilMs)).flatMap(([, own]) => own).length)
    const all = await samplesOf(prometheus, untilMs)
    expect(all.map(([device]) => device)).toEqual(targets.toSorted())
    expect(await stored()).toEqual(all)
  })
})
