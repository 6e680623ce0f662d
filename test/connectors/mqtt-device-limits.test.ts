import { beforeAll, expect, test } from 'vitest'
import { newDevice, newStreams } from '../support/devices.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { connectPacket, publishPacket, RawMqttConnection } from '../support/mqtt-packets.ts'
import { newPerson, type Person, received } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const listening = mqttClients(() => service.process.mqttPort)
const connect = async (...options: Parameters<typeof listening>) =>
  (await listening(...options)).mqtt

let ada: Person

beforeAll(async () => {
  ada = await newPerson(service.api)
})

test('a device with a rate is read more slowly, and loses nothing', async () => {
  const { streamIds } = await newStreams(ada)
  const [streamId = ''] = streamIds
  // A stream that is at hand: readings that wait for one are counted when it is there.
  await ada.withKey('POST', `/streams/${streamId}/data`, { temperature: -1 })
  const rateLimit = { readingsPerSecond: 0.001, burst: 3 }
  const device = await newDevice(ada, { streamIds, rateLimit })
  const client = await connect(device, { reconnectPeriod: 50, clean: false, clientId: 'slow' })
  const sent = Array.from({ length: 6 }, (_, index) =>
    client.publishAsync(`streams/${streamId}/data`, `{"temperature": ${index}}`, { qos: 1 }),
  )

  await Promise.all(sent.slice(0, 3))
  expect(await received(ada, streamId)).toBe(1 + 3)
  expect(client.connected).toBe(true)

  await ada.withKey('PUT', `/devices/${device.id}`, { rateLimit: null })
  await Promise.all(sent)
  expect(await received(ada, streamId)).toBe(1 + 6)
})

test('a debt of more than a month is waited for, too', async () => {
  const { streamIds } = await newStreams(ada)
  const [streamId = ''] = streamIds
  await ada.withKey('POST', `/streams/${streamId}/data`, { temperature: -1 })
  const rateLimit = { readingsPerSecond: 0.00001, burst: 1 }
  const client = await connect(await newDevice(ada, { streamIds, rateLimit }))
  const topic = `streams/${streamId}/data`
  const batch = JSON.stringify(Array.from({ length: 100 }, (_, index) => ({ temperature: index })))

  await client.publishAsync(topic, batch, { qos: 1 })
  client.publish(topic, '{"temperature": 1}', { qos: 1 })

  // Others that are sent later and answered show that there was time to read this one.
  const others = (await newStreams(ada)).streamIds[0] ?? ''
  const sibling = await connect(ada.key)
  for (let count = 0; count < 20; count++) {
    await sibling.publishAsync(`streams/${others}/data`, '{"temperature": 1}', { qos: 1 })
  }
  expect(await received(ada, streamId)).toBe(1 + 100)
})

test('devices of one user with one client id do not take each other for a packet sent again', async () => {
  const { streamIds } = await newStreams(ada)
  const [streamId = ''] = streamIds
  for (const { apiKey, apiSecret } of [
    await newDevice(ada, { streamIds }),
    await newDevice(ada, { streamIds }),
  ]) {
    const raw = await RawMqttConnection.open(service.process.mqttPort)
    raw.send(
      connectPacket({ clientId: 'as made', username: apiKey, password: apiSecret }),
      publishPacket({
        topic: `streams/${streamId}/data`,
        payload: '{"temperature": 1}',
        packetId: 1,
        isDup: true,
      }),
    )
    await raw.next(2)
    raw.destroy()
  }

  const stored = async () => {
    const path = `/streams/${streamId}/status`
    const { body } = await ada.withToken<{ counters: object }>('GET', path)
    return body.counters
  }
  await expect.poll(stored).toMatchObject({ received: 2, stored: 2, duplicates: 0 })
})

test('what waits for a device is not sent to it once it is of a stream of others', async () => {
  const { vaultId, streamIds } = await newStreams(ada)
  const { body } = await ada.withToken<{ streamId: string }>('POST', '/streams', {
    name: 'on a topic',
    vaultId,
    type: 'iot_sensor',
    source: { topic: 'plant/1' },
    schema: { temperature: { type: 'number' } },
  })
  const device = await newDevice(ada, { streamIds: [body.streamId] })
  const options = { clean: false, clientId: 'away' }
  const before = await listening(device, options)
  expect(await before.subscribe(['plant/1', `${device.commandTopic}set`])).toEqual([1, 1])
  await before.mqtt.endAsync()
  await ada.withKey('PUT', `/devices/${device.id}`, { streamIds })
  const owner = await connect(ada.key)
  await owner.publishAsync('plant/1', '{"temperature": 1}', { qos: 1 })
  // After it, and by the same way.
  await expect.poll(() => received(ada, body.streamId)).toBe(1)
  await owner.publishAsync(`${device.commandTopic}set`, 'on', { qos: 1 })

  const after = await listening(device, options)

  await expect.poll(() => after.messages.length).toBeGreaterThan(0)
  expect(after.messages.map(({ topic }) => topic)).toEqual([`${device.commandTopic}set`])
})
