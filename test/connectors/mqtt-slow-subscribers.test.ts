import { describe, expect, test } from 'vitest'
import { metricOf } from '../support/metrics.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { connectPacket, RawMqttConnection, subscribePacket } from '../support/mqtt-packets.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

/** A subscriber of all that its user is sent, who reads nothing any more. */
async function deafSubscriber({ key, userId }: Person, qos: 0 | 1, isClean = true) {
  const connection = await RawMqttConnection.open(service.process.mqttPort)
  const { apiKey: username, apiSecret: password } = key
  const subscribe = subscribePacket(1, `users/${userId}/#`)
  subscribe[subscribe.length - 1] = qos
  connection.send(connectPacket({ clientId: 'deaf', username, password, isClean }), subscribe)
  await connection.next(2)
  connection.pause()
  return connection
}

const payload = 'x'.repeat(100_000)

describe('a subscriber that does not read', () => {
  test('misses messages of QoS 0, and nobody else does', async () => {
    const ada = await newPerson(service.api)
    const deaf = await deafSubscriber(ada, 0)
    const listener = await connect(ada.key)
    await listener.subscribe(`users/${ada.userId}/#`, 0)
    const publisher = await connect(ada.key)

    // More than the system keeps for one connection.
    const count = 300
    for (let message = 0; message < count; message++) {
      await publisher.mqtt.publishAsync(`users/${ada.userId}/a`, payload, { qos: 1 })
    }

    await expect.poll(() => listener.messages.length).toBe(count)
    expect(await metricOf(service.process, 'mqtt_undelivered_total')).toBeGreaterThan(0)
    expect(await metricOf(service.process, 'mqtt_unread_bytes')).toBeLessThan(2 * 1024 * 1024)
    deaf.destroy()
  })

  test('of QoS 1 is closed, and nobody else is held up', async () => {
    const ada = await newPerson(service.api)
    const deaf = await deafSubscriber(ada, 1)
    const listener = await connect(ada.key)
    await listener.subscribe(`users/${ada.userId}/#`, 1)
    const publisher = await connect(ada.key)

    const count = 300
    for (let message = 0; message < count; message++) {
      await publisher.mqtt.publishAsync(`users/${ada.userId}/a`, payload, { qos: 1 })
    }

    await expect.poll(() => listener.messages.length).toBe(count)
    deaf.resume()
    await deaf.closed
    expect(await metricOf(service.process, 'mqtt_closed_total{reason="slow"}')).toBeGreaterThan(0)
  })
})

describe('a subscriber that comes back', () => {
  test('gets all that waits for it, however much that is', async () => {
    const ada = await newPerson(service.api)
    const { userId } = ada
    const away = await connect(ada.key, { clientId: 'away', clean: false })
    await away.subscribe(`users/${userId}/#`, 1)
    await away.mqtt.endAsync()
    const publisher = await connect(ada.key)
    const topics = Array.from({ length: 120 }, (_, index) => `users/${userId}/${index}`)
    for (const topic of topics) await publisher.mqtt.publishAsync(topic, payload, { qos: 1 })

    const back = await connect(ada.key, { clientId: 'away', clean: false })

    await expect.poll(() => back.messages.length).toBe(topics.length)
    expect(back.messages.map(({ topic }) => topic)).toEqual(topics)
  })

  test('gets all that is retained, however much that is', async () => {
    const ada = await newPerson(service.api)
    const publisher = await connect(ada.key)
    const topics = Array.from({ length: 120 }, (_, index) => `users/${ada.userId}/${index}`)
    for (const topic of topics) {
      await publisher.mqtt.publishAsync(topic, payload, { qos: 1, retain: true })
    }

    for (const qos of [0, 1] as const) {
      const late = await connect(ada.key)
      await late.subscribe(`users/${ada.userId}/#`, qos)

      await expect.poll(() => late.messages.length).toBe(topics.length)
    }
  })
})
