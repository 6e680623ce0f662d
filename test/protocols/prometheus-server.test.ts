import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { isPrometheusMissing, Prometheus } from '../support/prometheus.ts'
import {
  createFleet,
  type ProtocolFleet,
  readingsByDevice,
  streamsByDevice,
} from '../support/protocol-fleet.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

/** Prometheus scrapes machines, and writes what it finds into a fleet. */

const service = runningService()

/** A machine that exposes a gauge. */
class Machine implements AsyncDisposable {
  readonly #server = createServer((_: IncomingMessage, answer) => {
    answer.setHeader('content-type', 'text/plain; version=0.0.4')
    answer.end(`# TYPE load gauge\nload{cpu="0"} ${this.load}\nload{cpu="1"} 2.5\n`)
  })
  load = 0.5

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

const opened: AsyncDisposable[] = []

afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one[Symbol.asyncDispose]()
})

async function machine(): Promise<string> {
  const one = new Machine()
  opened.push(one)
  return await one.listen()
}

interface Writing {
  readonly targets: readonly string[]
  readonly fleet: ProtocolFleet
  readonly http?: string
  readonly password?: string
}

async function prometheusFor(writing: Writing): Promise<Prometheus> {
  const { targets, fleet, http = service.process.http, password = adminSecret } = writing
  const prometheus = await Prometheus.start(`
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: machines
    static_configs: [{targets: ${JSON.stringify(targets)}}]
remote_write:
  - url: ${http}/api/v1/write?fleet=${encodeURIComponent(fleet.name)}
    basic_auth: {username: ${adminKey}, password: ${JSON.stringify(password)}}
    queue_config: {batch_send_deadline: 200ms, min_backoff: 50ms, max_backoff: 200ms}
    write_relabel_configs: [{source_labels: [__name__], regex: load|up, action: keep}]
`)
  opened.push(prometheus)
  return prometheus
}

/** What Prometheus counts of its own remote writes. */
async function countOf({ url }: Prometheus, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith(`prometheus_remote_storage_${name}{`))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

describe.skipIf(isPrometheusMissing)('the remote write of a Prometheus', () => {
  test('brings each sample into the stream of its instance', async () => {
    const targets = [await machine(), await machine()]
    const fleet = await createFleet(service.api, { name: 'machines', deviceField: 'instance' })
    const prometheus = await prometheusFor({ targets, fleet })

    const counts = async () => [
      await countOf(prometheus, 'samples_total'),
      await countOf(prometheus, 'samples_failed_total'),
      await countOf(prometheus, 'samples_pending'),
    ]
    await expect.poll(async () => (await counts())[0]).toBeGreaterThan(12)
    expect((await counts())[1]).toBe(0)
    const readings = await readingsByDevice(service.api, fleet)
    expect([...readings.keys()].toSorted()).toEqual(targets.toSorted())
    for (const [instance, rows] of readings) {
      expect(rows.find(({ extra }) => (extra as { cpu?: string }).cpu === '1')).toMatchObject({
        metric: 'load',
        value: 2.5,
        extra: { cpu: '1', instance, job: 'machines' },
      })
      expect(new Set(rows.map(({ metric }) => metric))).toEqual(new Set(['load', 'up']))
    }
  })

  test('is not repeated for ever where the schema refuses its samples', async () => {
    const schema = { metric: { type: 'string' }, value: { type: 'integer' } }
    const targets = [await machine()]
    const fleet = await createFleet(service.api, { name: 'whole', deviceField: 'instance', schema })
    const prometheus = await prometheusFor({ targets, fleet })

    await expect
      .poll(async () => await countOf(prometheus, 'samples_failed_total'))
      .toBeGreaterThan(3)
    expect(await countOf(prometheus, 'samples_retried_total')).toBe(0)
    const [streamId = ''] = (await streamsByDevice(service.api, fleet)).values()
    const { stored, quarantined, duplicates } = (await service.api.status(streamId)).counters
    expect(duplicates).toBe(0)
    // `up` is whole.
    expect(stored).toBeGreaterThan(0)
    expect(quarantined).toBeGreaterThan(stored)
  })

  test('is not repeated for ever with a wrong secret', async () => {
    const targets = [await machine()]
    const fleet = await createFleet(service.api, { name: 'closed', deviceField: 'instance' })
    const prometheus = await prometheusFor({ targets, fleet, password: 'wrong' })

    await expect
      .poll(async () => await countOf(prometheus, 'samples_failed_total'))
      .toBeGreaterThan(3)
    expect(await countOf(prometheus, 'samples_retried_total')).toBe(0)
    expect(await streamsByDevice(service.api, fleet)).toEqual(new Map())
  })
})
