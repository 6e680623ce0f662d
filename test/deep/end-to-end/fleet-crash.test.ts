import { connect, type MqttClient } from 'mqtt'
import { expect, test } from 'vitest'
import { ApiClient, type DataPage } from '../../support/api-client.ts'
import { FaultyService } from '../../support/faulty-service.ts'
import { foundIn } from '../../support/left-by-a-kill.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { adminKey, adminSecret, type ServiceProcess } from '../../support/service-process.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()

const devices = 10_000
const readingsOfDevice = 2
const gateways = 4
const kills = 6

/** Messages that a gateway has under way: as many as clients with a large window. */
const underWayMax = 500

interface Message {
  readonly device: number
  readonly value: number
  readonly topic: string
  readonly payload: string
}

/** All messages of the devices of one gateway, the first of each device before the second of any. */
function messagesOf(gateway: number): Message[] {
  return Array.from({ length: readingsOfDevice }, (_, round) =>
    Array.from({ length: devices / gateways }, (_device, index) => {
      const device = index * gateways + gateway
      const value = device * readingsOfDevice + round
      const timestamp = new Date(Date.UTC(2026, 0, 1) + value).toISOString()
      const payload = JSON.stringify({ timestamp, value })
      return { device, value, topic: `tele/device ${device}/SENSOR`, payload }
    }),
  ).flat()
}

/** Sends what is not acknowledged, in the order of the messages, until all of it is or the connection ends. */
class Gateway {
  readonly #left: Set<Message>
  readonly #onAcknowledged: () => void

  constructor(gateway: number, onAcknowledged: () => void) {
    this.#left = new Set(messagesOf(gateway))
    this.#onAcknowledged = onAcknowledged
  }

  get isDone(): boolean {
    return this.#left.size === 0
  }

  async run({ mqttPort }: ServiceProcess): Promise<void> {
    const client = connect(`mqtt://127.0.0.1:${mqttPort}`, {
      username: adminKey,
      password: adminSecret,
      reconnectPeriod: 0,
    })
    const closed = new Promise<void>((resolve) => client.once('close', () => resolve()))
    client.on('error', () => undefined)
    const waiting = [...this.#left].values()
    const workers = Array.from({ length: underWayMax }, async () => {
      for (const message of waiting) {
        if (!(await this.#isTaken(client, message))) return
      }
    })
    await Promise.race([Promise.all(workers), closed])
    await client.endAsync(true).catch(() => undefined)
  }

  async #isTaken(client: MqttClient, message: Message): Promise<boolean> {
    try {
      await client.publishAsync(message.topic, message.payload, { qos: 1 })
    } catch {
      return false
    }
    this.#left.delete(message)
    this.#onAcknowledged()
    return true
  }
}

interface ListedStream {
  readonly streamId: string
  readonly name: string
}

async function allStreams(api: ApiClient): Promise<readonly ListedStream[]> {
  const found: ListedStream[] = []
  for (let path: string | undefined = '/streams?limit=1000'; path !== undefined; ) {
    const { body, headers }: { body: ListedStream[]; headers: Headers } = await api.withToken(
      'GET',
      path,
    )
    found.push(...body)
    path = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    path &&= path.replace(api.base, '')
  }
  return found
}

async function makeFleet(api: ApiClient): Promise<void> {
  const { status, body } = await api.withToken('POST', '/fleets', {
    name: 'plugs',
    vaultId: await api.createVault(),
    definition: {
      type: 'iot_sensor',
      source: { topic: 'tele/{device}/SENSOR' },
      schema: { value: { type: 'integer' } },
    },
  })
  expect(status, JSON.stringify(body)).toBe(201)
}

/** Where the first messages of two devices are stopped, and how many streams are in the file by then. */
const stops = [
  // The first device is in a transaction of its own when the second one comes.
  { file: 'state.db', devices: 1, left: 'before anybody could hear of their streams' },
  { file: 'journal.db', devices: 2, left: 'between their streams and their readings' },
] as const

test.each(stops)(
  'a kill under the first messages of two devices, $left, loses and doubles nothing',
  async ({ file, devices: committed }) => {
    await using service = await FaultyService.start()
    await makeFleet(service.api)
    const before = await service.mqtt()
    service.faults.begin('hold-sync', file)
    const messages = ['a', 'b'].map((device, value) => {
      return [
        `tele/${device}/SENSOR`,
        JSON.stringify({ timestamp: '2026-01-31T10:00:00Z', value }),
      ] as const
    })
    const unanswered = messages.map(async ([topic, payload]) => {
      await before.publishAsync(topic, payload, { qos: 1 })
      return 'acknowledged'
    })
    const results = Promise.allSettled(unanswered)
    await service.until('the streams are in the file', async () => {
      return (
        foundIn(service.dataDir, 'state.db', '(SELECT count(*) FROM fleet_devices)') === committed
      )
    })
    await service.kill()
    await before.endAsync(true)
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected'])

    await service.restart()
    const after = await service.mqtt()
    for (const [topic, payload] of messages) await after.publishAsync(topic, payload, { qos: 1 })

    const streams = await allStreams(service.api)
    expect(streams.map(({ name }) => name).toSorted()).toEqual(['a', 'b'])
    for (const { streamId, name } of streams) {
      const { stored } = await service.api.settled(streamId, 1)
      const path = `/streams/${streamId}/data?limit=10`
      const { body } = await service.api.withToken<DataPage>('GET', path)
      expect([stored, ...body.data.map(({ value }) => value)]).toEqual([1, name === 'a' ? 0 : 1])
    }
  },
)

test('10,000 devices that appear at once under kills: each reading once, in the one stream of its device', async () => {
  const dataDir = services.newFolder()
  const random = new SeededRandom(20_261_127)
  let service = await services.start(dataDir)
  const first = new ApiClient(service.http)
  await makeFleet(first)

  let acknowledged = 0
  let killAt = Number.POSITIVE_INFINITY
  let killed = Promise.withResolvers<unknown>()
  const all = Array.from({ length: gateways }, (_, gateway) => {
    return new Gateway(gateway, () => {
      acknowledged++
      if (acknowledged < killAt) return
      killAt = Number.POSITIVE_INFINITY
      killed.resolve(service.end('SIGKILL'))
    })
  })
  for (let round = 0; all.some(({ isDone }) => !isDone); round++) {
    const left = devices * readingsOfDevice - acknowledged
    const isKilled = round < kills
    killAt = isKilled
      ? acknowledged + random.integer(1, Math.floor(left / 2))
      : Number.POSITIVE_INFINITY
    killed = Promise.withResolvers()
    await Promise.all(all.map((gateway) => gateway.run(service)))
    if (!isKilled) continue
    await killed.promise
    service = await services.start(dataDir)
  }
  expect(acknowledged).toBe(devices * readingsOfDevice)

  const api = new ApiClient(service.http)
  const streams = await allStreams(api)
  expect(new Set(streams.map(({ name }) => name)).size).toBe(devices)
  expect(streams.length).toBe(devices)
  const rest = streams.values()
  const check = async () => {
    for (const { streamId, name } of rest) {
      const { received, duplicates, stored } = await api.settled(streamId, readingsOfDevice)
      const { body } = await api.withToken<DataPage>('GET', `/streams/${streamId}/data?limit=10`)
      const device = Number(name.slice('device '.length))
      const values = Array.from(
        { length: readingsOfDevice },
        (_, round) => device * readingsOfDevice + round,
      )
      expect(new Set(body.data.map(({ value }) => value))).toEqual(new Set(values))
      expect({ stored, received }).toEqual({
        stored: readingsOfDevice,
        received: readingsOfDevice + duplicates,
      })
    }
  }
  await Promise.all(Array.from({ length: 20 }, check))
}, 900_000)
