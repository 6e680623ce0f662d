import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { ApiClient } from '../support/api-client.ts'
import { Mosquitto } from '../support/mosquitto.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

const topic = 'plants/7/boiler'
/** Each sends again a little after it was acknowledged: about 2,000 messages a second. */
const inFlight = 50
const pauseMs = 20
const firstMs = Date.UTC(2026, 2, 1)

/** Publishes numbered readings, many at a time, and remembers which of them the broker has taken. */
class BrokerLoad {
  readonly taken = new Set<number>()
  readonly #publishers: Promise<unknown>
  #next = 0
  #isOver = false

  constructor(client: Awaited<ReturnType<Mosquitto['client']>>) {
    const publish = async () => {
      while (!this.#isOver) {
        const number = this.#next++
        const timestamp = new Date(firstMs + number).toISOString()
        const payload = JSON.stringify({ timestamp, temperature: number })
        await client.publishAsync(topic, payload, { qos: 1 })
        this.taken.add(number)
        await sleep(pauseMs)
      }
    }
    this.#publishers = Promise.all(Array.from({ length: inFlight }, publish))
  }

  async grownBy(count: number): Promise<void> {
    const wanted = this.taken.size + count
    while (this.taken.size < wanted) await sleep(10)
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#publishers
  }
}

test('nothing that an external broker has taken is lost or doubled by kills and its restarts', async () => {
  await using broker = await Mosquitto.start([], await freePort())
  const environment = { STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${broker.port}` }
  const folder = services.newFolder()
  let service = await services.start(folder, environment)
  const source = { endpoint: broker.endpoint, topic }
  const streamId = await new ApiClient(service.http).createStream(undefined, { source })
  const isRunning = async () => {
    await expect
      .poll(async () => (await new ApiClient(service.http).status(streamId))['source'], {
        timeout: 60_000,
      })
      .toMatchObject({ state: 'running' })
  }
  await isRunning()

  const load = new BrokerLoad(await broker.client({ clean: false, clientId: 'load' }))
  for (let round = 0; round < 3; round++) {
    await load.grownBy(2_000)
    await service.end('SIGKILL')
    await load.grownBy(500)
    service = await services.start(folder, environment)
    await load.grownBy(500)
    await broker.stop()
    await broker.start()
    await isRunning()
  }
  await load.end()

  const api = new ApiClient(service.http)
  await expect.poll(async () => (await api.status(streamId)).counters.stored).toBe(load.taken.size)
  await api.settled(streamId)
  const stored = (await api.readAll(streamId)).map(({ temperature }) => temperature)
  expect(stored).toEqual([...load.taken].toSorted((left, right) => left - right))
})
