import { setTimeout as sleep } from 'node:timers/promises'
import { connectAsync } from 'mqtt'
import { describe, expect, test } from 'vitest'
import { FaultyService } from '../support/faulty-service.ts'
import { packetTypes } from '../support/mqtt-bytes.ts'
import {
  connectPacket,
  packetIdOf,
  publishPacket,
  RawMqttConnection,
} from '../support/mqtt-packets.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const pingreq = Buffer.from([0xc0, 0])

const service = runningService()

async function connected(clientId: string, port = service.process.mqttPort) {
  const connection = await RawMqttConnection.open(port)
  connection.send(connectPacket({ clientId, keepAliveS: 1 }))
  await connection.next()
  return connection
}

describe('a keep-alive of one second', () => {
  test('ends a silent connection after one and a half [MQTT-3.1.2-24]', async () => {
    const connection = await connected('silent')
    const beginMs = performance.now()

    await connection.closed

    expect(performance.now() - beginMs).toBeGreaterThan(1_400)
  })

  test('is kept by PINGREQ as well as by readings', async () => {
    const streamId = await service.api.createStream()
    const [pinging, publishing] = [await connected('pinging'), await connected('publishing')]
    const payload = '{"temperature":1}'
    for (let packetId = 1; packetId <= 4; packetId++) {
      await sleep(800)
      pinging.send(pingreq)
      publishing.send(publishPacket({ topic: `streams/${streamId}/data`, payload, packetId }))
    }

    // PINGRESP, section 3.13.
    expect((await pinging.next(4)).map(({ type }) => type)).toEqual([13, 13, 13, 13])
    expect((await publishing.next(4)).map(packetIdOf)).toEqual([1, 2, 3, 4])
    pinging.destroy()
    publishing.destroy()
  })
})

test('a full disk longer than the keep-alive cuts nobody, and all is acknowledged', async () => {
  await using faulty = await FaultyService.start()
  const streamId = await faulty.api.createStream()
  const topic = `streams/${streamId}/data`
  // One has so much to say that it is not read any more, one says a little and pings.
  const busy = await connected('busy', faulty.mqttPort)
  const calm = await connectAsync(`mqtt://127.0.0.1:${faulty.mqttPort}`, {
    username: adminKey,
    password: adminSecret,
    keepalive: 1,
    reconnectPeriod: 0,
  })
  const packets = (count: number, first: number) =>
    Array.from({ length: count }, (_, index) => {
      const payload = JSON.stringify({ temperature: first + index, note: 'x'.repeat(2_000) })
      return publishPacket({ topic, payload, packetId: first + index })
    })
  faulty.faults.begin('enospc', 'journal.db')
  busy.send(...packets(1_000, 1))
  const calmReadings = [1, 2].map((temperature) =>
    calm.publishAsync(topic, JSON.stringify({ temperature: -temperature }), { qos: 1 }),
  )
  const pings = setInterval(() => busy.send(pingreq), 500)
  for (let second = 0; second < 5; second++) {
    await sleep(1_000)
    calmReadings.push(
      calm.publishAsync(topic, JSON.stringify({ temperature: -10 - second }), { qos: 1 }),
    )
    expect(calm.connected).toBe(true)
  }

  faulty.faults.end()

  const acknowledged: number[] = []
  while (acknowledged.length < 1_000) {
    const [answer] = await busy.next()
    if (answer?.type === packetTypes.puback) acknowledged.push(packetIdOf(answer))
  }
  clearInterval(pings)
  expect(acknowledged).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1))
  await Promise.all(calmReadings)
  expect(calm.connected).toBe(true)
  busy.destroy()
  await calm.endAsync(true)
})

test('a client that waits for a full disk is told that we are there', async () => {
  await using faulty = await FaultyService.start()
  const streamId = await faulty.api.createStream()
  const connection = await connected('waiting', faulty.mqttPort)
  faulty.faults.begin('enospc', 'journal.db')
  const reading = (packetId: number) =>
    publishPacket({ topic: `streams/${streamId}/data`, payload: '{"temperature":1}', packetId })
  connection.send(reading(1))
  for (let packetId = 2; packetId <= 5; packetId++) {
    await sleep(700)
    connection.send(reading(packetId), pingreq)
    expect((await connection.next()).map(({ type }) => type)).toEqual([13])
  }

  faulty.faults.end()

  expect((await connection.next(5)).map(packetIdOf)).toEqual([1, 2, 3, 4, 5])
  connection.destroy()
})
