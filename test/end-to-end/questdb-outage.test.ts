import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { DistinctLoad } from '../support/distinct-load.ts'
import { isQuestDbMissing, QuestDb } from '../support/questdb.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const kills = 20
const resets = 30
const wrong = { temperature: 'hot' }

describe.skipIf(isQuestDbMissing)('without its QuestDB', () => {
  test('the service starts, takes readings and decides; what waits is stored once it is there', async () => {
    await using questDb = await QuestDb.start()
    await questDb.stop()
    await using service = await Service.start(questDb.port)

    await service.load.send()
    await service.refuseOne()
    await expect.poll(() => service.failing()).toHaveProperty('store')
    await expect.poll(() => service.quarantined(), { timeout: 10_000 }).toBe(1)
    const { status, body } = await service.api.withToken<{ error: string }>(
      'GET',
      `/streams/${service.streamId}/data`,
    )
    expect([status, body.error]).toEqual([503, 'store_unavailable'])

    await questDb.start()

    await service.allStored({ refused: 1, duplicates: 0 })
    expect(await service.failing()).toEqual({})
  })

  test('the service ends in time, and goes on with it later', async () => {
    await using questDb = await QuestDb.start()
    await using service = await Service.start(questDb.port)
    await service.load.send()
    await questDb.kill()
    await service.load.send()
    await expect.poll(() => service.failing()).toHaveProperty('store')

    await service.restart()
    await questDb.start()

    await service.allStored({ refused: 0, duplicates: 0 })
  })
})

describe.skipIf(isQuestDbMissing)('a QuestDB that is killed again and again under load', () => {
  test('gets every reading once, and holds up neither receipts nor decisions', async () => {
    await using questDb = await QuestDb.start()
    await using service = await Service.start(questDb.port)
    service.load.start()
    for (let kill = 0; kill < kills; kill++) {
      const stored = await service.stored()
      await expect.poll(() => service.stored(), { timeout: 30_000 }).toBeGreaterThan(stored)
      await questDb.kill()
      const sent = service.load.sent
      await service.refuseOne()
      await expect.poll(() => service.quarantined(), { timeout: 10_000 }).toBe(kill + 1)
      await expect.poll(() => service.load.sent).toBeGreaterThan(sent)
      await questDb.start()
    }
    await service.load.stop()

    await service.allStored({ refused: kills, duplicates: 0 })
    expect(await service.failing()).toEqual({})
  })
})

describe.skipIf(isQuestDbMissing)('a network that resets connections', () => {
  test('costs no reading and doubles none, and duplicates are counted as such', async () => {
    await using questDb = await QuestDb.start()
    await using proxy = await TcpProxy.start(questDb.port)
    await using service = await Service.start(proxy.port)
    await service.load.send()
    service.load.start()
    for (let reset = 0; reset < resets; reset++) {
      // At another place of what goes on each time, and often enough to hit it in the middle.
      await sleep(20 + 7 * (reset % 11))
      proxy.reset()
    }
    await service.load.stop()
    const repeated = await service.repeatAll()

    await service.allStored({ refused: 0, duplicates: repeated })
  })
})

/** The service as a process, with one stream and a load of readings that are all different. */
class Service implements AsyncDisposable {
  readonly #folder: TemporaryFolder
  readonly #environment: Readonly<Record<string, string>>
  #process: ServiceProcess
  api: ApiClient
  readonly streamId: string
  readonly load: DistinctLoad

  static async start(questDbPort: number): Promise<Service> {
    const folder = new TemporaryFolder()
    const environment = { STREAMVAULT_TIMESERIES_URL: `questdb://127.0.0.1:${questDbPort}` }
    const process = await startServiceProcess(folder.path, environment)
    const api = new ApiClient(process.http)
    return new Service({ folder, environment, process, api, streamId: await api.createStream() })
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
  }: {
    readonly refused: number
    readonly duplicates: number
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
    const found = (await this.api.readAll(this.streamId)).map(({ temperature }) => temperature)
    expect(found).toEqual(Array.from({ length: stored }, (_, number) => number))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.end('SIGKILL')
    this.#folder[Symbol.dispose]()
  }
}

/** What `DistinctLoad` sends. */
function readingOf(number: number): object {
  return {
    timestamp: new Date(Date.UTC(2026, 0, 31) + number * 1_000).toISOString(),
    temperature: number,
  }
}
