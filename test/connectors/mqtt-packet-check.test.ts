import { describe, expect, test } from 'vitest'
import { checkConnect, checkPacket } from '../../connectors/mqtt-broker/guard/packet-check.ts'
import { field, packet, packetTypes, u16 } from '../support/mqtt-bytes.ts'
import { connectPacket, publishPacket, subscribePacket } from '../support/mqtt-packets.ts'

const whole = (bytes: Buffer) => ({ bytes, start: 0, end: bytes.length })
const check = (bytes: Buffer) => checkPacket(whole(bytes))
const connect = (bytes: Buffer) => checkConnect(whole(bytes))

/** Bytes with their length before them, which need not be a text. */
const bytesField = (...bytes: readonly number[]) =>
  Buffer.concat([u16(bytes.length), Buffer.from(bytes)])

const subscribe = (...parts: readonly Buffer[]) => packet(packetTypes.subscribe, 2, ...parts)
const unsubscribe = (...parts: readonly Buffer[]) => packet(10, 2, ...parts)
const publish = (topic: Buffer) => packet(packetTypes.publish, 0, topic, Buffer.from('{}'))
const qos1 = Buffer.from([1])

interface ConnectParts {
  readonly name?: Buffer
  readonly level?: number
  readonly flags?: number
  readonly payload?: readonly Buffer[]
}

function connectOf({ name = field('MQTT'), level = 4, flags = 2, payload }: ConnectParts): Buffer {
  const head = Buffer.from([level, flags, 0, 60])
  return packet(packetTypes.connect, 0, name, head, ...(payload ?? [field('boiler')]))
}

const illFormed = [
  ['bytes that are no UTF-8 [MQTT-1.5.3-1]', bytesField(0x61, 0xff)],
  ['a surrogate [MQTT-1.5.3-1]', bytesField(0xed, 0xa0, 0x80)],
  ['an overlong form [MQTT-1.5.3-1]', bytesField(0xc0, 0x80)],
  ['a U+0000 [MQTT-1.5.3-2]', bytesField(0x61, 0x00)],
] as const

describe('a text with', () => {
  test.each(illFormed)('%s is refused wherever it stands', (_, text) => {
    const malformed = expect.objectContaining({ reason: 'protocol' })
    expect(() => check(publish(text))).toThrow(malformed)
    expect(() => check(subscribe(u16(1), text, qos1))).toThrow(malformed)
    expect(() => check(unsubscribe(u16(1), text))).toThrow(malformed)
    expect(() => connect(connectOf({ payload: [text] }))).toThrow(malformed)
    const username = [field('boiler'), text]
    expect(() => connect(connectOf({ flags: 0x82, payload: username }))).toThrow(malformed)
    const will = [field('boiler'), text, field('gone')]
    expect(() => connect(connectOf({ flags: 0x06, payload: will }))).toThrow(malformed)
  })

  test('a byte order mark [MQTT-1.5.3-3], or anything else that is a letter, is taken', () => {
    for (const text of ['\u{feff}topic', 'Temperatur/Küche', '温度', '🌡/a']) {
      expect(check(publish(field(text))).isTaken).toBe(true)
      expect(check(subscribePacket(1, text)).isTaken).toBe(true)
    }
  })
})

describe('a topic', () => {
  test.each([
    ['that is empty [MQTT-4.7.3-1]', '', 'protocol'],
    ['with a + [MQTT-3.3.2-2]', 'a/+/b', 'protocol'],
    ['with a # [MQTT-3.3.2-2]', 'a/#', 'protocol'],
    ['of more than 32 levels', '/'.repeat(32), 'limit'],
    ['of more than 1,024 bytes', 'a'.repeat(1_025), 'limit'],
  ])('%s is refused, also of a will', (_, topic, reason) => {
    const refused = expect.objectContaining({ reason })
    expect(() => check(publish(field(topic)))).toThrow(refused)
    expect(() => connect(connectPacket({ clientId: 'a', will: { topic, payload: '' } }))).toThrow(
      refused,
    )
  })

  test.each(['a', '/', '//', 'a b/c', '$SYS/x', '/'.repeat(31), 'a'.repeat(1_024)])(
    '%j is taken',
    (topic) => {
      expect(check(publish(field(topic))).isTaken).toBe(true)
    },
  )
})

describe('a topic filter', () => {
  test.each(['', 'a#', '#/a', 'a/#/b', '##', '+a', 'a+', 'a/b+/c', 'a/+b', '++', '#a', '+#'])(
    '%j is refused [MQTT-4.7.1-2] [MQTT-4.7.1-3] [MQTT-4.7.3-1]',
    (filter) => {
      expect(() => check(subscribePacket(1, filter))).toThrow(/MQTT-4\.7/)
      expect(() => check(unsubscribe(u16(1), field(filter), Buffer.alloc(0)))).toThrow()
    },
  )

  test.each(['#', '+', '/', '+/+', '/+', '+/', 'a/+/b', 'a/#', '+/#', '/#', '$SYS/#', '//#'])(
    '%j is taken',
    (filter) => {
      expect(check(subscribePacket(1, filter))).toEqual({ filters: 1, isTaken: true })
    },
  )

  test.each([
    ['of more than 32 levels', '+/'.repeat(32)],
    ['of more than 1,024 bytes', 'a'.repeat(1_025)],
  ])('%s is not against the standard, and not taken', (_, filter) => {
    expect(check(subscribePacket(1, filter))).toEqual({ filters: 1, isTaken: false })
  })
})

describe('SUBSCRIBE and UNSUBSCRIBE', () => {
  const filters = (count: number) =>
    Array.from({ length: count }, (_, index) => Buffer.concat([field(`a/${index}`), qos1]))

  test('with 100 filters is taken, with more it is not', () => {
    expect(check(subscribe(u16(1), ...filters(100)))).toEqual({ filters: 100, isTaken: true })
    expect(check(subscribe(u16(1), ...filters(101)))).toEqual({ filters: 101, isTaken: false })
  })

  test.each([
    ['asks for QoS 3 [MQTT-3-8.3-4]', subscribe(u16(1), field('a'), Buffer.from([3]))],
    ['has bits that are reserved [MQTT-3-8.3-4]', subscribe(u16(1), field('a'), Buffer.from([5]))],
    ['has a packet id of 0 [MQTT-2.3.1-1]', subscribe(u16(0), field('a'), qos1)],
    ['has a filter without a QoS', subscribe(u16(1), field('a'), qos1, field('b'))],
    ['has a filter that is cut off', subscribe(u16(1), u16(9), field('a'))],
    ['ends with half a length', unsubscribe(u16(1), field('a'), Buffer.from([0]))],
    ['unsubscribes with a packet id of 0', unsubscribe(u16(0), field('a'))],
  ])('is refused when it %s', (_, bytes) => {
    expect(() => check(bytes)).toThrow(expect.objectContaining({ reason: 'protocol' }))
  })
})

describe('a packet id of 0 [MQTT-2.3.1-1]', () => {
  test.each([4, 5, 6, 7])('is refused in an acknowledgement of type %i', (type) => {
    expect(() => check(packet(type, type === 6 ? 2 : 0, u16(0)))).toThrow(/MQTT-2\.3\.1-1/)
    expect(check(packet(type, type === 6 ? 2 : 0, u16(1))).isTaken).toBe(true)
  })

  test('is refused in a PUBLISH of QoS 2', () => {
    const fields = { topic: 'a', payload: '', qos: 2 } as const
    expect(() => check(publishPacket({ ...fields, packetId: 0 }))).toThrow(/MQTT-2\.3\.1-1/)
    expect(check(publishPacket({ ...fields, packetId: 1 })).isTaken).toBe(true)
  })
})

describe('a CONNECT', () => {
  test.each([
    ['another protocol name [MQTT-3.1.2-1]', { name: field('HTTP') }],
    ['a name that only begins like it [MQTT-3.1.2-1]', { name: field('MQTTX') }],
    ['the reserved flag [MQTT-3.1.2-3]', { flags: 0x03 }],
    ['a QoS of the will without a will [MQTT-3.1.2-13]', { flags: 0x0a }],
    ['a will of QoS 3 [MQTT-3.1.2-14]', { flags: 0x1e, payload: ['a', 'b', 'c'].map(field) }],
    ['retain without a will [MQTT-3.1.2-15]', { flags: 0x22 }],
    [
      'a password without a user name [MQTT-3.1.2-22]',
      { flags: 0x42, payload: ['a', 'b'].map(field) },
    ],
    ['a will that is not there', { flags: 0x06 }],
    ['a user name that is not there', { flags: 0x82 }],
    ['a user name that its flags do not tell', { payload: ['a', 'b'].map(field) }],
    ['no client id [MQTT-3.1.3-3]', { payload: [] }],
  ])('with %s is refused', (_, parts) => {
    expect(() => connect(connectOf(parts))).toThrow(expect.objectContaining({ reason: 'protocol' }))
  })

  test.each([
    ['MQTT 5', { level: 5 }],
    ['level 3 under the new name', { level: 3 }],
    ['level 4 under the old name', { name: field('MQIsdp'), level: 4 }],
    ['a bridge that tries its own level', { level: 0x84 }],
  ])('of %s is answered 1 [MQTT-3.1.2-2]', (_, parts) => {
    expect(connect(connectOf(parts)).refusal).toBe(1)
  })

  test('with a client id of more than 256 bytes is answered 2', () => {
    expect(connect(connectPacket({ clientId: 'x'.repeat(257) })).refusal).toBe(2)
    expect(connect(connectPacket({ clientId: 'x'.repeat(256) })).refusal).toBeUndefined()
  })

  test('of MQTT 3.1.1 and 3.1 is taken, with its keep-alive', () => {
    const older = { name: field('MQIsdp'), level: 3 }
    for (const parts of [{}, older]) {
      const bytes = connectOf(parts)
      const { keepAliveS, keepAliveAt, refusal } = connect(bytes)
      expect({ keepAliveS, refusal }).toEqual({ keepAliveS: 60, refusal: undefined })
      expect(bytes.readUInt16BE(keepAliveAt)).toBe(60)
    }
  })
})
