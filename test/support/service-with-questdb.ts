import { expect } from 'vitest'
import { ApiClient } from './api-client.ts'
import { DistinctLoad } from './distinct-load.ts'
import { at } from './seconds.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'
import { TemporaryFolder } from './temporary-folder.ts'

const wrong = { temperature: 'hot' }

/** The service as a process, with one stream and a load of readings that are all different. */
export class ServiceWithQuestDb implements AsyncDisposable {
  readonly #folder: TemporaryFolder
  readonly #environment: Readonly<Record<string, string>>
  #process: ServiceProcess
  api: ApiClient
  readonly streamId: string
  readonly load: DistinctLoad

  static async start(
    questDbPort: number,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<ServiceWithQuestDb> {
    const folder = new TemporaryFolder()
    const url = `questdb://127.0.0.1:${questDbPort}`
    const environment = { STREAMVAULT_TIMESERIES_URL: url, ...settings }
    const process = await startServiceProcess(folder.path, environment)
    const api = new ApiClient(process.http)
    return new ServiceWithQuestDb({
      folder,
      environment,
      process,
      api,
      streamId: await api.createStream(),
    })
  }

  private constructor(parts: {
    readonly folder: TemporaryFolder
    readonly environment: Readonly<Record<string, string>>
    readonly process: ServiceProcess
    readonly api: ApiClient
    readonly streamId: string
  }) {
    this.#folder = parts.folder
    this.#environment = parts.environment
    this.#process = parts.process
    this.api = parts.api
    this.streamId = parts.streamId
    this.load = new DistinctLoad(parts.api, parts.streamId)
  }

  async restart(): Promise<void> {
    expect(await this.#process.end('SIGTERM')).toBe(0)
    this.#process = await startServiceProcess(this.#folder.path, this.#environment)
    this.api = new ApiClient(this.#process.http)
  }

  async failing(): Promise<Readonly<Record<string, string>>> {
    const { body } = await this.api.request<{ failing: Record<string, string> }>(
      'GET',
      '/health/ready',
    )
    return body.failing
  }

  /** Sends a reading that the quarantine gets. */
  async refuseOne(): Promise<void> {
    await this.api.withToken('POST', `/streams/${this.streamId}/data`, wrong)
  }

  /** Removes one reading. */
  async remove(number: number): Promise<void> {
    const range = `start=${at(number)}&end=${at(number + 1)}`
    const { status } = await this.api.withToken('DELETE', `/streams/${this.streamId}/data?${range}`)
    expect([202, 204]).toContain(status)
  }

  async stored(): Promise<number> {
    return (await this.api.status(this.streamId)).counters.stored
  }

  async quarantined(): Promise<number> {
    return (await this.api.status(this.streamId)).counters.quarantined
  }

  /** Sends all acknowledged readings again; how many there are. */
  async repeatAll(): Promise<number> {
    const numbers = [...this.load.acknowledged]
    for (let from = 0; from < numbers.length; from += 1_000) {
      const body = numbers.slice(from, from + 1_000).map((number) => readingOf(number))
      const { status } = await this.api.withToken('POST', `/streams/${this.streamId}/data`, body)
      expect(status).toBe(202)
    }
    return numbers.length
  }

  /** Resolves when nothing is pending, and all that was acknowledged is there once. */
  async allStored({
    refused,
    duplicates,
    removed = new Set(),
  }: {
    readonly refused: number
    readonly duplicates: number
    /** Numbers of readings that were stored and removed. */
    readonly removed?: ReadonlySet<number>
  }): Promise<void> {
    const stored = this.load.sent
    await expect
      .poll(async () => (await this.api.status(this.streamId)).counters, {
        timeout: 60_000,
        interval: 200,
      })
      .toMatchObject({
        received: stored + duplicates + refused,
        stored,
        duplicates,
        quarantined: refused,
        pending: 0,
      })
    const there = async () =>
      (await this.api.readAll(this.streamId)).map(({ temperature }) => temperature)
    const all = Array.from({ length: stored }, (_, number) => number)
    await expect
      .poll(there, { interval: 200 })
      .toEqual(all.filter((number) => !removed.has(number)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.end('SIGKILL')
    this.#folder[Symbol.dispose]()
  }
}

/** What `DistinctLoad` sends. */
function readingOf(number: number): object {
  return {
    timestamp: at(number),
    temperature: number,
  }
}
