import { describe, expect, test } from 'vitest'
import { FaultyService } from '../../support/faulty-service.ts'
import { packetTypes } from '../../support/mqtt-bytes.ts'
import {
  connectPacket,
  packetIdOf,
  publishPacket,
  pubrelPacket,
  RawMqttConnection,
} from '../../support/mqtt-packets.ts'

const messagesPerClient = 240
const clients = 12

/** Every sixth message is not a reading of ours, and every eighth is no JSON. */
const isForeign = (index: number) => index % 6 === 5
const isMalformed = (index: number) => !isForeign(index) && index % 8 === 3

const foreignTopic = 'streams/00000000-0000-4000-8000-000000000000/data'

/** A device that sends numbered readings of all qualities of service, and keeps what comes back. */
class MixedDevice {
  readonly number: number
  readonly #streamIds: readonly string[]
  /** Packet ids in the order in which they were acknowledged: PUBACKs, and PUBRECs. */
  readonly pubacks: number[] = []
  readonly pubrecs: number[] = []

  constructor(number: number, streamIds: readonly string[]) {
    this.number = number
    this.#streamIds = streamIds
  }

  /** Packet ids that it has sent with this quality of service, or would send. */
  idsOf(qos: 1 | 2): number[] {
    return this.#indexes().flatMap((index) => (qosOf(index) === qos ? [index + 1] : []))
  }

  /** The value of each reading that it sends, which no other device has. */
  values(): number[] {
    return this.#indexes()
      .filter((index) => !isForeign(index) && !isMalformed(index))
      .map((index) => this.#valueOf(index))
  }

  async connect(port: number): Promise<RawMqttConnection> {
    const connection = await RawMqttConnection.open(port)
    connection.send(connectPacket({ clientId: `mixed-${this.number}`, isClean: true }))
    const [connack] = await connection.next()
    expect([...(connack?.body ?? [])]).toEqual([0, 0])
    return connection
  }

  /** Sends [from, to), a few in each write. */
  send(connection: RawMqttConnection, from = 0, to = messagesPerClient): void {
    for (let at = from; at < to; at += 20) {
      const indexes = this.#indexes().slice(at, Math.min(at + 20, to))
      connection.send(...indexes.map((index) => this.#packet(index, false)))
    }
  }

  /** Sends what was not acknowledged again, and also what nobody would have acknowledged. */
  sendAgain(connection: RawMqttConnection): void {
    const done = new Set([...this.pubacks, ...this.pubrecs])
    const open = this.#indexes().filter((index) => !done.has(index + 1))
    this.pubacks.length = 0
    this.pubrecs.length = 0
    for (const index of open) connection.send(this.#packet(index, qosOf(index) > 0))
  }

  /** Takes acknowledgements until there is one for each of so many messages. */
  async takeUntil(connection: RawMqttConnection, count: number): Promise<void> {
    while (this.pubacks.length + this.pubrecs.length < count) {
      const [packet] = await connection.next()
      if (packet?.type === packetTypes.puback) this.pubacks.push(packetIdOf(packet))
      if (packet?.type !== packetTypes.pubrec) continue
      this.pubrecs.push(packetIdOf(packet))
      connection.send(pubrelPacket(packetIdOf(packet)))
    }
  }

  #indexes(): number[] {
    return Array.from({ length: messagesPerClient }, (_, index) => index)
  }

  #valueOf(index: number): number {
    return this.number * messagesPerClient + index
  }

  #packet(index: number, isDup: boolean): Buffer {
    const value = this.#valueOf(index)
    const timestamp = new Date(Date.UTC(2026, 0, 1) + value * 1_000).toISOString()
    const payload = isMalformed(index)
      ? '{"temperature":'
      : JSON.stringify({ timestamp, temperature: value })
    // The second stream comes in the middle, and has to be looked up while others are under way.
    const own = this.#streamIds[index < messagesPerClient / 2 ? 0 : 1] ?? ''
    const topic = isForeign(index) ? foreignTopic : `streams/${own}/data`
    return publishPacket({ topic, payload, packetId: index + 1, qos: qosOf(index), isDup })
  }
}

function qosOf(index: number): 0 | 1 | 2 {
  if (index % 10 === 9) return 2
  return index % 4 === 1 ? 0 : 1
}

async function started() {
  const service = await FaultyService.start()
  const streamIds = [await service.api.createStream(), await service.api.createStream()]
  const devices = Array.from({ length: clients }, (_, number) => new MixedDevice(number, streamIds))
  const storedValues = async () => {
    const points = []
    for (const id of streamIds) {
      await service.api.settled(id)
      points.push(...(await service.api.readAll(id)))
    }
    return points.map((point) => point['temperature']).sort((a, b) => Number(a) - Number(b))
  }
  const values = devices.flatMap((device) => device.values())
  return { service, streamIds, devices, storedValues, values }
}

describe('a journal disk that is full now and then', () => {
  test('leaves every client its order, and every reading stored once', async () => {
    const { service, streamIds, devices, storedValues, values } = await started()
    await using _ = service
    const acknowledged = devices[0]?.idsOf(1).length ?? 0
    const received = devices[0]?.idsOf(2).length ?? 0
    const connections = await Promise.all(devices.map((device) => device.connect(service.mqttPort)))
    service.faults.begin('enospc', 'journal.db')
    const sending = devices.map(async (device, index) => {
      const connection = connections[index] as RawMqttConnection
      device.send(connection)
      await device.takeUntil(connection, acknowledged + received)
    })
    const sent = { all: false }
    const allSent = Promise.all(sending).finally(() => {
      sent.all = true
    })
    for (let faults = 0; faults < 5 || !sent.all; faults++) {
      service.faults.begin('enospc', 'journal.db')
      await service.until('it was noticed', async () => {
        return sent.all || (await service.readiness()).status === 503
      })
      service.faults.end()
      await service.until('it is over', async () => (await service.readiness()).status === 200)
    }
    await allSent

    for (const device of devices) {
      expect(device.pubacks).toEqual(device.idsOf(1))
      expect(device.pubrecs).toEqual(device.idsOf(2))
    }
    await expect.poll(storedValues).toEqual(values)
    for (const id of streamIds) {
      expect(await service.api.settled(id)).toMatchObject({ duplicates: 0, discarded: 0 })
    }
  })

  test('takes nothing from clients whose connection breaks meanwhile', async () => {
    const { service, devices, storedValues, values } = await started()
    await using _ = service
    const connections = await Promise.all(devices.map((device) => device.connect(service.mqttPort)))
    for (const [index, device] of devices.entries()) {
      device.send(connections[index] as RawMqttConnection, 0, messagesPerClient / 2)
      await device.takeUntil(connections[index] as RawMqttConnection, 20)
    }
    service.faults.begin('enospc', 'journal.db')
    for (const [index, device] of devices.entries()) {
      device.send(connections[index] as RawMqttConnection, messagesPerClient / 2)
    }
    await service.until('it was noticed', async () => (await service.readiness()).status === 503)
    for (const connection of connections) connection.destroy()
    service.faults.end()

    await Promise.all(
      devices.map(async (device) => {
        const connection = await device.connect(service.mqttPort).catch(async () => {
          await service.until('ready', async () => (await service.readiness()).status === 200)
          return await device.connect(service.mqttPort)
        })
        const before = device.pubacks.length + device.pubrecs.length
        const all = device.idsOf(1).length + device.idsOf(2).length
        device.sendAgain(connection)
        await device.takeUntil(connection, all - before)
      }),
    )

    await expect.poll(storedValues).toEqual(values)
  })
})
