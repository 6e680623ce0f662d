import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { takeArrival } from '../../connectors/mqtt-client/arrivals.ts'
import { userProperties } from '../../connectors/mqtt-client/user-properties.ts'
import { field, packet, u16 } from '../support/mqtt-bytes.ts'

const text = fc.string({ unit: 'grapheme' })
const bytes = (...all: readonly number[]) => Buffer.from(all)

/** Properties that a PUBLISH may have beside those of users (MQTT 5, section 3.3.2.3). */
const other = fc.oneof(
  fc.nat(1).map((indicator) => bytes(0x01, indicator)),
  fc.nat(0xffff).map((seconds) => Buffer.concat([bytes(0x02, 0, 0), u16(seconds)])),
  fc.nat(0xffff).map((alias) => Buffer.concat([bytes(0x23), u16(alias)])),
  fc.constantFrom(bytes(0x0b, 7), bytes(0x0b, 0x80, 1), bytes(0x0b, 0xff, 0xff, 0xff, 0x7f)),
  fc
    .tuple(fc.constantFrom(0x03, 0x08, 0x09), text)
    .map(([id, value]) => Buffer.concat([bytes(id), field(value)])),
)

const own = fc.tuple(text, text)

test('user properties of a message are found among all others', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(other, own), { maxLength: 8 }), (given) => {
      const parts = given.map((one) =>
        Buffer.isBuffer(one) ? one : Buffer.concat([bytes(0x26), field(one[0]), field(one[1])]),
      )
      const properties = Buffer.concat(parts)
      fc.pre(properties.length < 128)
      const whole = packet(
        'publish',
        0,
        field('t'),
        bytes(properties.length),
        properties,
        bytes(112),
      )
      const arrival = takeArrival({ bytes: whole, start: 0, end: whole.length }, 5)
      expect(arrival.payload.toString()).toBe('p')
      const wanted = given.flatMap((one) =>
        Buffer.isBuffer(one) ? [] : [[one[0].toLowerCase(), one[1]]],
      )
      expect([...userProperties(arrival.properties ?? Buffer.alloc(0))]).toEqual(wanted)
    }),
  )
})

test('bytes that are no properties are come to an end with', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (any) => {
      expect([...userProperties(Buffer.from(any))].length).toBeLessThanOrEqual(any.length)
    }),
  )
})
