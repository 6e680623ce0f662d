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

/** Seconds. Who stands still for some of them is not taken for silent. */
const keepAliveS = 4
const silenceMs = keepAliveS * 1_500

/** How long after the packet before the next one is sent. */
const pauseMs = 1_500

/** More of them than the silence that ends a connection. */
const pauses = Math.ceil(silenceMs / pauseMs) + 1

async function connected(clientId: string, port = service.process.mqttPort) {
  const connection = await RawMqttConnection.open(port)
  connection.send(connectPacket({ clientId, keepAliveS }))
  await connection.next()
  return connection
}

const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe('a keep-alive', () => {
  test('ends a silent connection after one and a half of it [MQTT-3.1.2-24]', async () => {
    const beginMs = performance.now()
    const connection = await connected('silent')

    await connection.closed

    // Clocks of two processes, and a timer that is rounded.
    expect(performance.now() - beginMs).toBeGreaterThan(silenceMs - 100)
  })

  test('is kept by PINGREQ as well as by readings', async () => {
    const streamId = await service.api.createStream()
    const [pinging, publishing] = [await connected('pinging'), await connected('publishing')]
    const payload = '{"temperature":1}'
    for (const packetId of numbersTo(pauses)) {
      await sleep(pauseMs)
      pinging.send(pingreq)
      publishing.send(publishPacket({ topic: `streams/${streamId}/data`, payload, packetId }))
    }

    // PINGRESP, section 3.13.
    const answers = (await pinging.next(pauses)).map(({ type }) => type)
    expect(answers).toEqual(Array(pauses).fill(13))
    expect((await publishing.next(pauses)).map(packetIdOf)).toEqual(numbersTo(pauses))
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
    keepalive: keepAliveS,
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
  for (const pause of numbersTo(pauses)) {
    await sleep(pauseMs)
    calmReadings.push(
      calm.publishAsync(topic, JSON.stringify({ temperature: -10 - pause }), { qos: 1 }),
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
  expect(acknowledged).toEqual(numbersTo(1_000))
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
  for (const packetId of numbersTo(pauses + 1).slice(1)) {
    await sleep(pauseMs)
    connection.send(reading(packetId), pingreq)
    expect((await connection.next()).map(({ type }) => type)).toEqual([13])
  }

  faulty.faults.end()

  const acknowledged = (await connection.next(pauses + 1)).map(packetIdOf)
  expect(acknowledged).toEqual(numbersTo(pauses + 1))
  connection.destroy()
})
