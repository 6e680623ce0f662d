import { type EventEmitter, once } from 'node:events'
import { connectAsync } from 'mqtt'
import { describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { newDevice, newStreams } from '../support/devices.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

interface ShownSession {
  readonly clientId: string
  readonly connected: boolean
  readonly since: string
  readonly expiresAt: string | null
  readonly queuedMessages: number
  readonly [field: string]: unknown
}

async function sessionsOf(person: Person): Promise<readonly ShownSession[]> {
  const { status, body } = await person.withToken<ShownSession[]>('GET', '/mqtt/sessions')
  expect(status).toBe(200)
  return body
}

async function sessionOf(person: Person, path: string): Promise<ShownSession> {
  return (await person.withToken<ShownSession>('GET', `/mqtt/sessions/${path}`)).body
}

async function end(person: Person, path: string): Promise<number> {
  return (await person.withToken('DELETE', `/mqtt/sessions/${path}`)).status
}

describe('the MQTT sessions of a user', () => {
  test('are listed in the order of their beginning, kept and passing ones', async () => {
    const ada = await newPerson(service.api)
    await connect(ada.key, { clientId: 'kept', clean: false })
    await connect(ada.key, { clientId: 'passing', clean: true })

    const sessions = await sessionsOf(ada)

    const connected = { connected: true, apiKeyId: ada.key.apiKey, address: '127.0.0.1' }
    expect(sessions).toMatchObject([
      { clientId: 'kept', kept: true, deviceId: null, expiresAt: null, ...connected },
      { clientId: 'passing', kept: false, deviceId: null, expiresAt: null, ...connected },
    ])
  })

  test('tell what waits in them, and when they end', async () => {
    const ada = await newPerson(service.api)
    const topic = `users/${ada.userId}/commands`
    const device = await connect(ada.key, { clientId: 'boiler', clean: false })
    await device.subscribe([topic, `users/${ada.userId}/settings/#`])
    await device.mqtt.endAsync()
    await (await connect(ada.key)).mqtt.publishAsync(topic, 'open', { qos: 1 })

    const session = await sessionOf(ada, 'boiler')

    expect(session).toMatchObject({
      connected: false,
      apiKeyId: null,
      address: null,
      subscriptions: 2,
      filters: [
        { filter: topic, qos: 1 },
        { filter: `users/${ada.userId}/settings/#`, qos: 1 },
      ],
      queuedMessages: 1,
      queuedBytes: topic.length + 'open'.length,
    })
    const daysLeft = (Date.parse(session.expiresAt ?? '') - Date.parse(session.since)) / 86_400_000
    expect(daysLeft).toBe(30)
  })

  test('are those of devices, too, which are told apart by their ids', async () => {
    const ada = await newPerson(service.api)
    const { streamIds } = await newStreams(ada)
    const device = await newDevice(ada, { streamIds })
    await connect(ada.key, { clientId: 'boiler/7', clean: false })
    await connect(device, { clientId: 'boiler/7', clean: false })

    expect(await sessionsOf(ada)).toMatchObject([
      { clientId: 'boiler/7', deviceId: null },
      { clientId: 'boiler/7', deviceId: device.id },
    ])
    expect(await end(ada, `boiler%2F7?deviceId=${device.id}`)).toBe(204)
    expect(await sessionsOf(ada)).toMatchObject([{ deviceId: null }])
    expect(await end(ada, 'boiler%2F7')).toBe(204)
    expect(await sessionsOf(ada)).toEqual([])
  })

  test('are listed in pages', async () => {
    const ada = await newPerson(service.api)
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const clientId of names) await connect(ada.key, { clientId, clean: clientId > 'c' })
    const found: string[] = []

    let path: string | undefined = '/mqtt/sessions?limit=2'
    while (path !== undefined) {
      const page: Answer<ShownSession[]> = await ada.withToken('GET', path)
      expect(page.body.length).toBeLessThanOrEqual(2)
      found.push(...page.body.map(({ clientId }) => clientId))
      path = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1]
    }

    expect(found).toEqual(names)
  })

  test('are nobody else’s', async () => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    await connect(ada.key, { clientId: 'boiler', clean: false })

    expect(await sessionsOf(bob)).toEqual([])
    expect(await end(bob, 'boiler')).toBe(404)
    expect(await sessionsOf(ada)).toMatchObject([{ clientId: 'boiler', connected: true }])
  })
})

describe('ending a session', () => {
  test('ends its connection, and what waits for it is gone', async () => {
    const ada = await newPerson(service.api)
    const topic = `users/${ada.userId}/commands`
    const options = { clientId: 'boiler', clean: false }
    const device = await connect(ada.key, options)
    await device.subscribe(topic)
    const closed = once(device.mqtt as unknown as EventEmitter, 'close')

    expect(await end(ada, 'boiler')).toBe(204)
    await closed
    await (await connect(ada.key)).mqtt.publishAsync(topic, 'open', { qos: 1 })
    const again = await connectAsync({
      ...options,
      port: service.process.mqttPort,
      username: ada.key.apiKey,
      password: ada.key.apiSecret,
      reconnectPeriod: 0,
    })
    await again.endAsync()

    expect(await sessionOf(ada, 'boiler')).toMatchObject({ subscriptions: 0, queuedMessages: 0 })
  })

  test('ends the connection of a clean session, whose will is published', async () => {
    const ada = await newPerson(service.api)
    const topic = `users/${ada.userId}/wills`
    const heir = await connect(ada.key, { clientId: 'heir' })
    await heir.subscribe(topic)
    const will = { topic, payload: Buffer.from('gone'), qos: 1 as const, retain: false }
    await connect(ada.key, { clientId: 'passing', will })

    expect(await end(ada, 'passing')).toBe(204)

    await expect.poll(() => heir.messages).toMatchObject([{ payload: 'gone' }])
    await expect.poll(() => end(ada, 'passing')).toBe(404)
  })

  test('takes names that are long', async () => {
    const ada = await newPerson(service.api)
    const clientId = 'é'.repeat(128)
    await connect(ada.key, { clientId, clean: false })

    expect(await end(ada, encodeURIComponent(clientId))).toBe(204)
  })
})
