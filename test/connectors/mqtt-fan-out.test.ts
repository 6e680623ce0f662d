import { describe, expect, test } from 'vitest'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

const reading = '{"temperature":21.5}'

function topicOf(streamId: string): string {
  return `streams/${streamId}/data`
}

describe('readings of a stream are passed on to its subscribers', () => {
  test.each([0, 1, 2] as const)('as they came over MQTT with QoS %i', async (qos) => {
    const ada = await newPerson(service.api)
    const topic = topicOf(await streamOf(ada))
    const [device, screen] = [await connect(ada.key), await connect(ada.key)]
    await screen.subscribe(topic, 2)

    await device.mqtt.publishAsync(topic, reading, { qos })

    await expect
      .poll(() => screen.messages)
      .toEqual([{ topic, payload: reading, qos, retain: false }])
  })

  test('as they came over HTTP, with QoS 1', async () => {
    const ada = await newPerson(service.api)
    const streamId = await streamOf(ada)
    const screen = await connect(ada.key)
    await screen.subscribe(topicOf(streamId), 2)

    await ada.withToken('POST', `/streams/${streamId}/data`, reading)

    await expect.poll(() => screen.messages).toMatchObject([{ payload: reading, qos: 1 }])
  })

  test('of a batch for several streams, each its own', async () => {
    const ada = await newPerson(service.api)
    const [one, other] = [await streamOf(ada), await streamOf(ada)]
    const screen = await connect(ada.key)
    await screen.subscribe(topicOf(one))
    const batch = [
      { streamId: other, temperature: 1 },
      { streamId: one, temperature: 2 },
      { streamId: one, temperature: 'hot' },
      { streamId: one, temperature: 3 },
    ]

    await ada.withToken('POST', '/data', batch)

    await expect
      .poll(() => screen.messages.map(({ payload }) => payload))
      .toEqual([JSON.stringify(batch[1]), JSON.stringify(batch[3])])
  })

  test('unless none of them was accepted', async () => {
    const ada = await newPerson(service.api)
    const topic = topicOf(await streamOf(ada))
    const [device, screen] = [await connect(ada.key), await connect(ada.key)]
    await screen.subscribe(topic)

    for (const payload of ['{"temperature":"hot"}', 'no json', reading]) {
      await device.mqtt.publishAsync(topic, payload, { qos: 1 })
    }

    await expect.poll(() => screen.messages).toMatchObject([{ payload: reading }])
  })

  test('and not to those of others', async () => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    const topic = topicOf(await streamOf(ada))
    const [device, screen, spy] = [
      await connect(ada.key),
      await connect(ada.key),
      await connect(bob.key),
    ]
    await screen.subscribe(topic)
    await spy.subscribe(`users/${bob.userId}/#`)

    await device.mqtt.publishAsync(topic, reading, { qos: 1 })

    await expect.poll(() => screen.messages).toHaveLength(1)
    expect(spy.messages).toEqual([])
  })

  test('who are away, when they come back', async () => {
    const ada = await newPerson(service.api)
    const topic = topicOf(await streamOf(ada))
    const session = { clientId: 'screen', clean: false }
    const before = await connect(ada.key, session)
    await before.subscribe(topic)
    await before.mqtt.endAsync()

    await (await connect(ada.key)).mqtt.publishAsync(topic, reading, { qos: 1 })
    const after = await connect(ada.key, session)

    await expect.poll(() => after.messages).toMatchObject([{ topic, payload: reading }])
  })

  test('who have subscribed in upper case, by the name of the stream', async () => {
    const ada = await newPerson(service.api)
    const streamId = await streamOf(ada)
    const screen = await connect(ada.key)
    await screen.subscribe(`streams/${streamId.toUpperCase()}/data`)

    await ada.withToken('POST', `/streams/${streamId}/data`, reading)

    await expect.poll(() => screen.messages).toMatchObject([{ topic: topicOf(streamId) }])
  })
})

describe('a retained reading', () => {
  test('is kept for those who subscribe later, until an empty one', async () => {
    const ada = await newPerson(service.api)
    const streamId = await streamOf(ada)
    const topic = topicOf(streamId)
    const device = await connect(ada.key)
    const now = await connect(ada.key)
    await now.subscribe(topic)
    for (const payload of [reading, '{"temperature":"hot"}']) {
      await device.mqtt.publishAsync(topic, payload, { qos: 1, retain: true })
    }
    await expect.poll(() => now.messages).toHaveLength(1)

    const late = await connect(ada.key)
    await late.subscribe(topic)
    await expect.poll(() => late.messages).toMatchObject([{ payload: reading, retain: true }])

    await device.mqtt.publishAsync(topic, '', { qos: 1, retain: true })
    await expect.poll(() => now.messages).toHaveLength(2)
    const later = await connect(ada.key)
    await later.subscribe(topic)
    await device.mqtt.publishAsync(topic, '{"temperature":1}', { qos: 1 })
    await expect.poll(() => later.messages).toMatchObject([{ payload: '{"temperature":1}' }])
    // What takes a retained message away is no reading.
    const path = `/streams/${streamId}/status`
    const { body } = await ada.withToken<{ counters: object }>('GET', path)
    expect(body.counters).toMatchObject({ received: 3, quarantined: 1 })
  })
})

describe('what was dropped', () => {
  test('is counted, and closes the connection after 100 in a minute', async () => {
    const ada = await newPerson(service.api)
    const { mqtt } = await connect(ada.key)
    const closed = new Promise<void>((resolve) => {
      mqtt.once('close', () => resolve())
    })

    for (let sent = 0; sent < 100; sent++) {
      await mqtt.publishAsync('factory/hall-3', reading, { qos: 1 })
    }
    expect(mqtt.connected).toBe(true)
    await mqtt.publishAsync('factory/hall-3', reading, { qos: 1 })

    await closed
  })
})
