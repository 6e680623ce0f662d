import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { ApiClient } from './api-client.ts'
import { metricsOf } from './metrics.ts'
import type { ServiceProcess } from './service-process.ts'

/** Descriptors that may be more than before: those of files that are opened now and then. */
const descriptorsSpare = 4

/** What is 0 when nobody asks anything of the service, without its prefix. */
const restingGauges = [
  'bodies_in_flight_bytes',
  'intake_waiting_bytes',
  'queries_running',
  'queries_waiting',
  'exports_running',
  'mqtt_half_sent_bytes',
  'mqtt_unread_bytes',
  'mqtt_connections_open',
  'tails_open',
] as const

/** What a process holds, as Linux sees it. */
export class HeldResources {
  readonly #process: ServiceProcess
  readonly #api: ApiClient
  readonly #pid: number

  constructor(process: ServiceProcess, api: ApiClient) {
    this.#process = process
    this.#api = api
    const owner = readFileSync(`${process.dataDir}/owner.json`, 'utf8')
    this.#pid = (JSON.parse(owner) as { pid: number }).pid
  }

  get descriptors(): number {
    return readdirSync(`/proc/${this.#pid}/fd`).length
  }

  /** Resident memory. */
  get memoryBytes(): number {
    const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8')
    return Number(/VmRSS:\s*(\d+) kB/.exec(status)?.[1]) * 1024
  }

  /**
   * After whatever was done to the service: it lives, answers, has nothing left open, and none of its own faults
   * is in its log.
   */
  async expectAtRest(descriptorsBefore: number): Promise<void> {
    // Who asks is a new one: what it is told goes over a connection of its own.
    const alive = await fetch(`${this.#process.http}/health/ready`, {
      headers: { connection: 'close' },
    })
    expect(alive.status).toBe(200)
    expect((await this.#api.withToken('GET', '/streams?limit=1')).status).toBe(200)
    await expect.poll(() => this.#restless()).toEqual([])
    await expect
      .poll(() => this.descriptors)
      .toBeLessThanOrEqual(descriptorsBefore + descriptorsSpare)
    expect(this.#process.output().match(/^\{"level":[56]0,.*$/gm) ?? []).toEqual([])
  }

  /** Gauges that are not at rest, with their values. */
  async #restless(): Promise<readonly string[]> {
    const metric = await metricsOf(this.#process)
    return restingGauges.flatMap((name) => (metric(name) === 0 ? [] : [`${name} ${metric(name)}`]))
  }
}
