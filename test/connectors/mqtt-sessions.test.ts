import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import { afterEach, describe, expect, test } from 'vitest'
import { closed } from '../support/mqtt-clients.ts'
import {
  createKey,
  type MadeKey,
  newPerson,
  type Person,
  personOf,
  received,
  streamOf,
} from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const clients: MqttClient[] = []

afterEach(() => {
  for (const client of clients.splice(0)) client.end(true)
})

async function connect(
  { apiKey, apiSecret }: Pick<MadeKey, 'apiKey' | 'apiSecret'>,
  options: IClientOptions = {},
): Promise<MqttClient> {
  const client = await connectAsync({
    host: '127.0.0.1',
    port: service.process.mqttPort,
    username: apiKey,
    password: apiSecret,
    reconnectPeriod: 0,
    ...options,
  })
  clients.push(client)
  return client
}

function withToken(token: string): Pick<MadeKey, 'apiKey' | 'apiSecret'> {
  return { apiKey: 'bearer', apiSecret: token }
}

async function temperatures(person: Person, streamId: string): Promise<number[]> {
  const path = `/streams/${streamId}/data`
  const { body } = await person.withToken<{ data: { temperature: number }[] }>('GET', path)
  return body.data.map(({ temperature }) => temperature)
}

async function revoke({ apiKey }: MadeKey): Promise<void> {
  const { status } = await service.api.withKey('DELETE', `/keys/${apiKey}`)
  if (status !== 204) throw new Error(`answered ${status}`)
}

describe('a session', () => {
  test('of a revoked key ends at once, and no other', async () => {
    const ada = await newPerson(service.api)
    const { userId } = ada
    const [doomed, spared] = [
      await createKey(service.api, { userId }),
      await createKey(service.api, { userId }),
    ]
    const ended = await connect(doomed)
    const byToken = await connect(withToken(await personOf(service.api, doomed).token()))
    const kept = await connect(spared)
    const closings = [closed(ended), closed(byToken)]

    await revoke(doomed)

    await Promise.all(closings)
    const streamId = await streamOf(ada)
    await kept.publishAsync(`streams/${streamId}/data`, '{"temperature": 1}', { qos: 1 })
    expect(await received(ada, streamId)).toBe(1)
    await expect(connect(doomed)).rejects.toThrow(/Bad username or password/)
  })

  test('of a deleted user ends at once', async () => {
    const ada = await newPerson(service.api)
    const client = await connect(ada.key)
    const closing = closed(client)

    await service.api.withKey('DELETE', `/users/${ada.userId}`)

    await closing
  })

  test('ends when its key expires', async () => {
    // Time enough for both of them to come in before.
    const expiresAt = new Date(Date.now() + 8_000).toISOString()
    const ada = await newPerson(service.api, { expiresAt })
    const [withKey, byToken] = [await connect(ada.key), await connect(withToken(await ada.token()))]

    await Promise.all([closed(withKey), closed(byToken)])

    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt))
  })

  test('leaves no will when its key was revoked', async () => {
    const ada = await newPerson(service.api)
    const streamId = await streamOf(ada)
    const will = (temperature: number) => ({
      topic: `streams/${streamId}/data`,
      payload: Buffer.from(JSON.stringify({ temperature })),
      qos: 1 as const,
      retain: false,
    })
    const doomed = await createKey(service.api, { userId: ada.userId })
    const revoked = await connect(doomed, { will: will(1) })
    const lost = await connect(ada.key, { will: will(2) })
    const closing = closed(revoked)
    await revoke(doomed)
    await closing

    // The will of the other one comes later: when it is there, the first would be, too.
    lost.stream.destroy()

    // Also once it is counted it takes some time until it can be read.
    await expect.poll(() => temperatures(ada, streamId)).toEqual([2])
  })

  test('of a key without data:write may be, but what it publishes is dropped', async () => {
    const ada = await newPerson(service.api)
    const streamId = await streamOf(ada)
    const reader = await createKey(service.api, { userId: ada.userId, permission: 'read_only' })
    const topic = `streams/${streamId}/data`

    const [silent, heard] = [await connect(reader), await connect(ada.key)]
    for (const qos of [1, 2] as const) {
      await silent.publishAsync(topic, '{"temperature": 1}', { qos })
    }
    await heard.publishAsync(topic, '{"temperature": 2}', { qos: 1 })

    expect(await received(ada, streamId)).toBe(1)
  })

  test.each(['nonsense', ''])('is not opened with the token %j', async (token) => {
    await expect(connect(withToken(token))).rejects.toThrow(/Bad username or password/)
  })
})
