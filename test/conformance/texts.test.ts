import { describe, expect, test } from 'vitest'
import { publishPacket, subscribePacket, unsubscribePacket } from '../support/raw-mqtt.ts'
import { drain, receive, subscribe, testedBroker } from './tested-broker.ts'

const broker = testedBroker()

/** A text around these bytes. */
function around(bytes: readonly number[], before = ''): Buffer {
  return Buffer.concat([Buffer.from(`${before}a`), Buffer.from(bytes), Buffer.from('b')])
}

/** Packets of a connected client with a text in each place where one can be. */
const textsOfPackets: Record<string, (bytes: readonly number[], root: string) => Buffer> = {
  'PUBLISH of QoS 0': (bytes, root) => publishPacket({ topic: around(bytes, root) }),
  'PUBLISH of QoS 1': (bytes, root) => publishPacket({ topic: around(bytes, root), qos: 1 }),
  'PUBLISH of QoS 2': (bytes, root) => publishPacket({ topic: around(bytes, root), qos: 2 }),
  SUBSCRIBE: (bytes, root) => subscribePacket(1, [root, 0], [around(bytes, root), 0]),
  UNSUBSCRIBE: (bytes, root) => unsubscribePacket(1, root, around(bytes, root)),
}

const illFormed: Record<string, readonly number[]> = {
  'a surrogate': [0xed, 0xa0, 0x80],
  'the last surrogate': [0xed, 0xbf, 0xbf],
  'a pair of surrogates': [0xed, 0xa0, 0x81, 0xed, 0xb0, 0x80],
  'an overlong slash': [0xc0, 0xaf],
  'an overlong NUL': [0xc0, 0x80],
  'a code point beyond U+10FFFF': [0xf4, 0x90, 0x80, 0x80],
  'a byte that is in no UTF-8': [0xff],
  'a continuation without a beginning': [0x80],
  'a beginning without its continuation': [0xe2, 0x82],
}

describe.each(Object.entries(textsOfPackets))('%s', (_, packetWith) => {
  test.each(Object.entries(illFormed))(
    '[MQTT-1.5.3-1] [MQTT-4.8.0-1] with %s in a text closes the connection',
    async (__, bytes) => {
      const client = await broker.connect()

      client.send(packetWith(bytes, broker.newRoot()))

      expect(await client.end()).toEqual([])
    },
  )

  test('[MQTT-1.5.3-2] with U+0000 in a text closes the connection', async () => {
    const client = await broker.connect()

    client.send(packetWith([0], broker.newRoot()))

    expect(await client.end()).toEqual([])
  })
})

test.each([
  ['two bytes', 'é'],
  ['three bytes', '€'],
  ['four bytes', '🌡'],
  ['the code points next to the surrogates', '\ud7ff\ue000'],
  ['the last code point that is a character', '\u{10fffd}'],
])('[MQTT-3.3.2-1] a topic with %s a character is delivered as it is', async (_, text) => {
  const [client, root] = [await broker.connect(), broker.newRoot()]
  const topic = `${root}/${text}`
  await subscribe(client, [topic, 0])

  client.send(publishPacket({ topic, payload: 'here' }))

  expect(await receive(client, 1)).toMatchObject([{ topic, payload: 'here' }])
})

test('[MQTT-1.5.3-3] U+FEFF is a character like any other, and is not stripped off', async () => {
  const [client, root] = [await broker.connect(), broker.newRoot()]
  await subscribe(client, [`${root}/\ufeffmark`, 0])

  client.send(publishPacket({ topic: `${root}/mark`, payload: 'without' }))
  client.send(publishPacket({ topic: `${root}/\ufeffmark`, payload: 'with' }))

  const delivered = await drain(broker, client, await broker.connect())
  expect(delivered).toMatchObject([{ topic: `${root}/\ufeffmark`, payload: 'with' }])
})
