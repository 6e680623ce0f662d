import { describe, expect, test } from 'vitest'
import { createKey, newPerson } from '../support/people.ts'
import { type ConnectFields, connectPacket, pingreqPacket } from '../support/raw-mqtt.ts'
import { publish, receive, subscribe, testedBroker } from './tested-broker.ts'

const broker = testedBroker()

const accepted = { type: 'connack', sessionPresent: false, returnCode: 0 } as const

describe('the client id', () => {
  const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

  test.each([alphabet[0] ?? '', alphabet.slice(0, 23), alphabet.slice(23, 46), alphabet.slice(46)])(
    '[MQTT-3.1.3-5] %s is allowed',
    async (clientId) => {
      const client = await broker.open()

      client.send(broker.connectPacket({ clientId }))

      expect(await client.next()).toEqual(accepted)
    },
  )

  test.each(['', 'with spaces, / and #', 'ключ', 'x'.repeat(128)])(
    '[MQTT-3.1.3-4] [MQTT-3.1.3-2] %j is allowed, too',
    async (clientId) => {
      const client = await broker.open()

      client.send(broker.connectPacket({ clientId }))

      expect(await client.next()).toEqual(accepted)
    },
  )

  test('[MQTT-3.1.3-6] of no bytes stands for one that nobody else has', async () => {
    const first = await broker.connect({ clientId: '' })

    await broker.connect({ clientId: '' })

    first.send(pingreqPacket)
    expect(await first.next()).toEqual({ type: 'pingresp' })
  })

  test('[MQTT-3.1.3-8] [MQTT-3.1.3-9] [MQTT-3.2.2-4] [MQTT-3.2.2-5] of no bytes is refused without a clean session', async () => {
    const client = await broker.open()

    client.send(broker.connectPacket({ clientId: '', clean: false }))

    expect(await client.end()).toEqual([{ type: 'connack', sessionPresent: false, returnCode: 2 }])
  })

  test('[MQTT-3.1.3-2] belongs to its user: another one with the same id is another client', async () => {
    const clientId = broker.newClientId()
    const topic = `${broker.newRoot()}/mine`
    const first = await broker.connect({ clientId, clean: false })
    await subscribe(first, [topic, 1])
    const { key } = await newPerson(broker.service.api)
    const stranger = { clientId, clean: false, username: key.apiKey, password: key.apiSecret }

    const second = await broker.open()
    second.send(connectPacket(stranger))

    expect(await second.next()).toEqual(accepted)
    await publish(await broker.connect(), { topic, payload: 'for the first', qos: 1 })
    expect(await receive(first, 1)).toMatchObject([{ payload: 'for the first' }])
    second.send(pingreqPacket)
    expect(await second.next()).toEqual({ type: 'pingresp' })
  })

  const surrogate = Buffer.from([0x61, 0xed, 0xa0, 0x80])
  const fieldsWith: Record<string, (text: Buffer) => Partial<ConnectFields>> = {
    '[MQTT-3.1.3-4] client id': (clientId) => ({ clientId }),
    '[MQTT-3.1.3-10] will topic': (topic) => ({ will: { topic, payload: 'x' } }),
    '[MQTT-3.1.3-11] user name': (username) => ({ username }),
  }

  test.each(Object.entries(fieldsWith))(
    '%s that is no well-formed UTF-8, or has a NUL, closes the connection without a CONNACK',
    async (_, fields) => {
      for (const text of [surrogate, Buffer.from([0x61, 0]), Buffer.from([0xff])]) {
        const client = await broker.open()

        client.send(broker.connectPacket(fields(text)))

        expect(await client.end()).toEqual([])
      }
    },
  )
})

describe('credentials', () => {
  const refused = [{ type: 'connack', sessionPresent: false, returnCode: 4 }]

  test.each<[string, Partial<ConnectFields>]>([
    ['a wrong password', { password: 'wrong' }],
    ['an unknown user name', { username: 'nobody' }],
    ['an empty user name and password', { username: '', password: '' }],
    ['neither', { username: undefined, password: undefined }],
    ['a user name alone', { password: undefined }],
  ])(
    '[MQTT-3.2.2-4] [MQTT-3.2.2-5] with %s are refused, and the connection is closed',
    async (_, fields) => {
      const client = await broker.open()

      client.send(broker.connectPacket({ clean: false, ...fields }))

      expect(await client.end()).toEqual(refused)
    },
  )

  test('[MQTT-3.1.2-19] [MQTT-3.1.2-21] are a key and its secret, or `bearer` and a token', async () => {
    const { userId } = broker.person
    const key = await createKey(broker.service.api, { userId })
    const token = await broker.person.token()

    await broker.connect({ username: key.apiKey, password: key.apiSecret })
    const byToken = await broker.open()
    byToken.send(broker.connectPacket({ username: 'bearer', password: token }))

    expect(await byToken.next()).toEqual(accepted)
  })
})
