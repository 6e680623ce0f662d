import { describe, expect, test } from 'vitest'
import { packetTypes } from '../support/mqtt-bytes.ts'
import {
  connectPacket,
  packetIdOf,
  publishPacket,
  pubrelPacket,
  RawMqttConnection,
  subscribePacket,
} from '../support/mqtt-packets.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

async function connected(clientId: string, isClean = true): Promise<RawMqttConnection> {
  const connection = await RawMqttConnection.open(service.process.mqttPort)
  connection.send(connectPacket({ clientId, isClean }))
  await connection.next()
  return connection
}

function topicOf(streamId: string): string {
  return `streams/${streamId}/data`
}

const unknownTopic = topicOf('00000000-0000-4000-8000-000000000000')

test('SUBSCRIBE is answered with SUBACK 0x80', async () => {
  const connection = await connected('listener')

  connection.send(subscribePacket(7, 'streams/#'))

  const [suback] = await connection.next()
  expect(suback?.type).toBe(packetTypes.suback)
  expect([...(suback?.body ?? [])]).toEqual([0, 7, 0x80])
  connection.destroy()
})

describe('PUBACKs', () => {
  test('come in the order of the PUBLISHes, whatever became of each', async () => {
    const [first, second] = [await service.api.createStream(), await service.api.createStream()]
    const messages = Array.from({ length: 500 }, (_, index) => {
      // The second stream is met for the first time in the middle, and has to be looked up.
      const known = topicOf(index < 250 ? first : second)
      const at = new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString()
      if (index % 10 === 3) return { topic: unknownTopic, payload: '{}' }
      if (index % 10 === 6) return { topic: known, payload: '{"temperature":' }
      return { topic: known, payload: `{"timestamp":"${at}","temperature":${index}}` }
    })
    const connection = await RawMqttConnection.open(service.process.mqttPort)

    connection.send(
      connectPacket({ clientId: 'pipeline' }),
      ...messages.map((message, index) => publishPacket({ ...message, packetId: index + 1 })),
    )

    const [connack, ...pubacks] = await connection.next(501)
    expect(connack?.type).toBe(packetTypes.connack)
    expect(pubacks.every(({ type }) => type === packetTypes.puback)).toBe(true)
    expect(pubacks.map(packetIdOf)).toEqual(messages.map((_, index) => index + 1))
    for (const streamId of [first, second]) {
      const counters = await service.api.settled(streamId, 225)
      expect(counters).toMatchObject({ received: 225, stored: 200, quarantined: 25 })
    }
    connection.destroy()
  })

  test('come for each of two devices in its own order', async () => {
    const streamId = await service.api.createStream()
    const connections = await Promise.all(['left', 'right'].map((id) => connected(id)))
    const ids = Array.from({ length: 200 }, (_, index) => index + 1)

    for (const connection of connections) {
      connection.send(
        ...ids.map((packetId) =>
          publishPacket({ topic: topicOf(streamId), payload: '{"temperature":1}', packetId }),
        ),
      )
    }

    for (const connection of connections) {
      expect((await connection.next(200)).map(packetIdOf)).toEqual(ids)
      connection.destroy()
    }
    // None has a timestamp, so each is a reading of its own (decisions.md#times-of-readings).
    expect(await service.api.settled(streamId, 400)).toMatchObject({ stored: 400, duplicates: 0 })
  })
})

describe('a reading without a timestamp', () => {
  const payload = '{"temperature":21.5}'

  test('that is sent again with DUP is stored once', async () => {
    const streamId = await service.api.createStream()
    const connection = await connected('repeater')
    const message = { topic: topicOf(streamId), payload, packetId: 5 }

    connection.send(publishPacket(message))
    await connection.next()
    connection.send(publishPacket({ ...message, isDup: true }))
    await connection.next()

    const counters = await service.api.settled(streamId, 2)
    expect(counters).toMatchObject({ received: 2, stored: 1, duplicates: 1 })
    connection.destroy()
  })

  test('that is sent again with DUP after a broken connection is stored once', async () => {
    const streamId = await service.api.createStream()
    const message = { topic: topicOf(streamId), payload, packetId: 6 }
    const broken = await connected('returning', false)
    broken.send(publishPacket(message))
    await broken.next()
    broken.destroy()

    const connection = await connected('returning', false)
    connection.send(publishPacket({ ...message, isDup: true }))
    await connection.next()

    const counters = await service.api.settled(streamId, 2)
    expect(counters).toMatchObject({ received: 2, stored: 1, duplicates: 1 })
    connection.destroy()
  })

  test('of an array that is sent again with DUP is stored once', async () => {
    const streamId = await service.api.createStream()
    const connection = await connected('batch-repeater')
    const message = { topic: topicOf(streamId), payload: `[${payload},${payload}]`, packetId: 5 }

    connection.send(publishPacket(message))
    await connection.next()
    connection.send(publishPacket({ ...message, isDup: true }))
    await connection.next()

    const counters = await service.api.settled(streamId, 4)
    expect(counters).toMatchObject({ received: 4, stored: 2, duplicates: 2 })
    connection.destroy()
  })

  test.each([6, 5])('that comes again as a new packet %i is stored again', async (packetId) => {
    const streamId = await service.api.createStream()
    const connection = await connected(`steady-${packetId}`)

    connection.send(publishPacket({ topic: topicOf(streamId), payload, packetId: 5 }))
    await connection.next()
    connection.send(publishPacket({ topic: topicOf(streamId), payload, packetId }))
    await connection.next()

    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 2, duplicates: 0 })
    connection.destroy()
  })

  test('with DUP and a known packet id, but another payload, is stored', async () => {
    const streamId = await service.api.createStream()
    const connection = await connected('reuser')

    connection.send(publishPacket({ topic: topicOf(streamId), payload, packetId: 5 }))
    await connection.next()
    connection.send(
      publishPacket({
        topic: topicOf(streamId),
        payload: '{"temperature":22}',
        packetId: 5,
        isDup: true,
      }),
    )
    await connection.next()

    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 2, duplicates: 0 })
    connection.destroy()
  })

  test('with DUP that was never seen before is stored', async () => {
    const streamId = await service.api.createStream()
    const connection = await connected('unlucky')

    connection.send(publishPacket({ topic: topicOf(streamId), payload, packetId: 5, isDup: true }))
    await connection.next()

    expect(await service.api.settled(streamId, 1)).toMatchObject({ received: 1, stored: 1 })
    connection.destroy()
  })

  test('with QoS 2 that is sent again before its PUBREL is stored once', async () => {
    const streamId = await service.api.createStream()
    const connection = await connected('exact')
    const message = { topic: topicOf(streamId), payload, packetId: 9, qos: 2 } as const

    connection.send(publishPacket(message))
    const [pubrec] = await connection.next()
    connection.send(publishPacket({ ...message, isDup: true }))
    const [again] = await connection.next()
    connection.send(pubrelPacket(9))
    const [pubcomp] = await connection.next()

    expect([pubrec, again].map((packet) => packet?.type)).toEqual([
      packetTypes.pubrec,
      packetTypes.pubrec,
    ])
    expect(pubcomp?.type).toBe(packetTypes.pubcomp)
    const [point, ...others] = await service.api
      .settled(streamId, 1)
      .then(() => service.api.readAll(streamId))
    expect(point).toMatchObject({ temperature: 21.5 })
    expect(others).toEqual([])
    connection.destroy()
  })
})
