import * as fc from 'fast-check'
import { generate } from 'mqtt-packet'
import { expect, test } from 'vitest'
import { takeArrival } from '../../connectors/mqtt-client/arrivals.ts'
import { userProperties } from '../../connectors/mqtt-client/user-properties.ts'

const version = 5
const text = fc.string({ unit: 'grapheme' })

/** The library writes no whole packet with properties of which there are none. */
const texts = fc.dictionary(text, text, { minKeys: 1 })

/** All other properties that a PUBLISH may have. */
const others = fc.record(
  {
    payloadFormatIndicator: fc.boolean(),
    messageExpiryInterval: fc.nat(0xffff_ffff),
    responseTopic: fc.string({ unit: 'grapheme-ascii', minLength: 1 }),
    correlationData: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    contentType: fc.string(),
    subscriptionIdentifier: fc.integer({ min: 1, max: 268_435_455 }),
  },
  { requiredKeys: [] },
)

test('user properties of a message are found among all others', () => {
  fc.assert(
    fc.property(texts, others, (given, more) => {
      const wellFormed = Object.entries(given).every((pair) =>
        pair.every((one) => one.isWellFormed()),
      )
      fc.pre(wellFormed && !Object.hasOwn(given, '__proto__'))
      const properties = { ...more, userProperties: given }
      const bytes = generate(
        { cmd: 'publish', topic: 't', payload: 'p', qos: 0, dup: false, retain: false, properties },
        { protocolVersion: version },
      )
      const arrival = takeArrival({ bytes, start: 0, end: bytes.length }, version)
      expect(arrival.payload.toString()).toBe('p')
      const found = [...userProperties(arrival.properties ?? Buffer.alloc(0))]
      expect(found).toEqual(
        Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]),
      )
    }),
  )
})

test('bytes that are no properties are come to an end with', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const found = [...userProperties(Buffer.from(bytes))]
      expect(found.length).toBeLessThanOrEqual(bytes.length)
    }),
  )
})
