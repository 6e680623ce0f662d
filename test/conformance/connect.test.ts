import { describe, expect, test } from 'vitest'
import { field, packet, u16 } from '../support/mqtt-bytes.ts'
import { connectFlags, pingreqPacket, publishPacket, subscribePacket } from '../support/raw-mqtt.ts'
import { drain, receive, subscribe, testedBroker } from './tested-broker.ts'

const broker = testedBroker()

const accepted = { type: 'connack', sessionPresent: false, returnCode: 0 } as const

function credentials(): { readonly username: string; readonly password: string } {
  const { apiKey, apiSecret } = broker.person.key
  return { username: apiKey, password: apiSecret }
}

/** CONNECT with these flags and this payload, however they fit. */
function connectOf(flags: number, ...payload: Buffer[]): Buffer {
  return packet('connect', 0, field('MQTT'), Buffer.from([4, flags]), u16(0), ...payload)
}

function other(): Buffer {
  return field('something')
}

function identifier(): Buffer {
  return field(broker.newClientId())
}

describe('the protocol', () => {
  test.each(['MQTX', 'mqtt', 'MQTT ', 'MQT', ''])(
    '[MQTT-3.1.2-1] with the name %j is not taken for MQTT',
    async (protocolName) => {
      const client = await broker.open()

      client.send(broker.connectPacket({ protocolName }))

      expect(await client.end()).toEqual([])
    },
  )

  test.each([0, 3, 5, 6, 127, 255])(
    '[MQTT-3.1.2-2] [MQTT-3.2.2-4] [MQTT-3.2.2-5] of level %i is answered with 1',
    async (protocolLevel) => {
      const client = await broker.open()

      client.send(broker.connectPacket({ protocolLevel }))

      expect(await client.end()).toEqual([
        { type: 'connack', sessionPresent: false, returnCode: 1 },
      ])
    },
  )

  test('[MQTT-3.1.2-2] of version 5 with its properties is answered with 1', async () => {
    const client = await broker.open()
    const head = [field('MQTT'), Buffer.from([5, 2]), u16(60), Buffer.from([0])]

    client.send(packet('connect', 0, ...head, identifier()))

    expect(await client.end()).toEqual([{ type: 'connack', sessionPresent: false, returnCode: 1 }])
  })
})

describe('CONNECT', () => {
  test('[MQTT-3.1.4-4] [MQTT-3.2.0-1] is answered with 0, before all else', async () => {
    const client = await broker.open()
    const topic = broker.newRoot()

    client.send(
      broker.connectPacket(),
      subscribePacket(1, [topic, 0]),
      publishPacket({ topic }),
      pingreqPacket,
    )

    const answers = await client.take(4)
    expect(answers[0]).toEqual(accepted)
    expect(new Set(answers.slice(1).map(({ type }) => type))).toEqual(
      new Set(['suback', 'publish', 'pingresp']),
    )
  })

  test('[MQTT-3.1.3-1] carries its fields in their order', async () => {
    const topic = `${broker.newRoot()}/will`
    const watcher = await broker.connect()
    await subscribe(watcher, [topic, 1])
    const { username, password } = credentials()
    const client = await broker.open()
    const fields = [identifier(), topic, 'the end', username, password].map((text) =>
      Buffer.isBuffer(text) ? text : field(text),
    )

    client.send(connectOf(0xc6, ...fields))

    expect(await client.next()).toEqual(accepted)
    await client.break()
    expect(await receive(watcher, 1)).toMatchObject([{ topic, payload: 'the end' }])
  })

  const wrong: Record<string, () => Buffer> = {
    '[MQTT-3.1.2-3] with the reserved flag': () =>
      broker.connectPacket({ flags: connectFlags(credentials()) | 1 }),
    '[MQTT-3.1.3-3] without a client id': () => connectOf(2),
    '[MQTT-3.1.3-3] with a cut off client id': () => connectOf(2, u16(20), Buffer.from('cut')),
    '[MQTT-3.1.2-9] with a will flag and no will': () => connectOf(0x06, identifier()),
    '[MQTT-3.1.2-9] with a will flag and no will message': () =>
      connectOf(0x06, identifier(), other()),
    '[MQTT-3.1.2-11] with a will and no will flag': () =>
      connectOf(0x02, identifier(), other(), other()),
    '[MQTT-3.1.2-13] with the QoS of a will and no will': () => connectOf(0x0a, identifier()),
    '[MQTT-3.1.2-15] with the retain flag of a will and no will': () =>
      connectOf(0x22, identifier()),
    '[MQTT-3.1.2-14] with a will of QoS 3': () => connectOf(0x1e, identifier(), other(), other()),
    '[MQTT-3.1.2-18] with a user name and no flag for it': () =>
      connectOf(0x02, identifier(), other()),
    '[MQTT-3.1.2-19] without the user name of its flag': () => connectOf(0x82, identifier()),
    '[MQTT-3.1.2-20] with a password and no flag for it': () =>
      connectOf(0x82, identifier(), field(credentials().username), field(credentials().password)),
    '[MQTT-3.1.2-21] without the password of its flag': () =>
      connectOf(0xc2, identifier(), field(credentials().username)),
    '[MQTT-3.1.2-22] with a password and no user name': () =>
      connectOf(0x42, identifier(), other()),
    '[MQTT-3.1.4-1] with bytes behind its end': () =>
      packet('connect', 0, broker.connectPacket().subarray(2), Buffer.from([0])),
    '[MQTT-3.2.2-6] that ends in its header': () =>
      packet('connect', 0, field('MQTT'), Buffer.from([4])),
  }

  test.each(Object.entries(wrong))(
    '%s is answered by closing the connection, without a CONNACK',
    async (_, bytes) => {
      const client = await broker.open()

      client.send(bytes())

      expect(await client.end()).toEqual([])
    },
  )

  test('[MQTT-3.1.4-2] with the id of a connected client disconnects that one', async () => {
    const clientId = broker.newClientId()
    const first = await broker.connect({ clientId })

    const second = await broker.connect({ clientId })

    expect(await first.end()).toEqual([])
    second.send(pingreqPacket)
    expect(await second.next()).toEqual({ type: 'pingresp' })
  })

  test('[MQTT-3.1.4-2] with one id, many times, leaves one client connected', async () => {
    const clientId = broker.newClientId()
    const clients = await Promise.all(Array.from({ length: 20 }, () => broker.open()))

    for (const client of clients) client.send(broker.connectPacket({ clientId, clean: false }))
    // Each of them is let in, and may have had to leave again.
    await Promise.allSettled(clients.map((client) => client.next()))
    const last = await broker.connect({ clientId, clean: false })

    await Promise.all(clients.map((client) => client.end()))
    last.send(pingreqPacket)
    expect(await last.next()).toEqual({ type: 'pingresp' })
  })

  test('[MQTT-3.1.4-5] that is refused leaves what follows it unread', async () => {
    const topic = `${broker.newRoot()}/kept`
    const client = await broker.open()

    client.send(
      broker.connectPacket({ password: 'wrong' }),
      publishPacket({ topic, payload: 'from a stranger', qos: 1, retain: true }),
      pingreqPacket,
    )

    expect(await client.end()).toEqual([{ type: 'connack', sessionPresent: false, returnCode: 4 }])
    const watcher = await broker.connect()
    await subscribe(watcher, [topic, 1])
    expect(await drain(broker, watcher, await broker.connect())).toEqual([])
  })
})
