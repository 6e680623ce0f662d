import { encode as encodeMsgpack } from '@msgpack/msgpack'
import { encode as encodeCbor } from 'cborg'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decoders } from '../../processors/decode.ts'
import { csvDecoder } from '../../processors/decode-csv.ts'
import { plainDecoder } from '../../processors/decode-plain.ts'
import { senmlCborDecoder, senmlJsonDecoder } from '../../processors/decode-senml.ts'
import { sparkplugDecoder } from '../../processors/decode-sparkplug.ts'
import { judgeOf } from '../../processors/index.ts'
import { plainScanOf } from '../../processors/scan.ts'
import type { DecodedMessage, UndecodableMessage } from '../../src/contracts/reading.ts'
import { canonicalNumber } from '../../src/core/canonical-json.ts'
import { anyNumber } from '../support/any-numbers.ts'
import { decodedStream } from '../support/decoded-stream.ts'
import { metric, payloadOf } from '../support/sparkplug-payloads.ts'

const stream = decodedStream({ a: { type: 'number' } })
const judge = judgeOf(stream.schema)
const receivedAtUs = Date.UTC(2026, 2, 1) * 1000

type Message = DecodedMessage | UndecodableMessage

/** What is stored of the first reading, or why it is not. */
function storedOf(message: Message): string {
  if (!message.ok) return message.problem
  const problem = message.unreadable?.get(0)
  if (problem !== undefined) return problem
  const verdict = judge(message.readings[0], { receivedAtUs, futureToleranceUs: 0 })
  if (!verdict.accepted) return verdict.message
  return verdict.isFiltered ? 'filtered' : verdict.values
}

/** Numbers as clients and devices write them. */
const floats: Readonly<Record<string, (value: number) => Message>> = {
  json: (a) => decoders.json(Buffer.from(JSON.stringify({ a }))),
  'json with an exponent': (a) => decoders.json(Buffer.from(`{"a":${a.toExponential()}}`)),
  'a list in json': (a) => decoders.json(Buffer.from(JSON.stringify([{ a }]))),
  'plain json that is scanned': (a) =>
    decoders.json(Buffer.from(JSON.stringify({ a })), plainScanOf(stream.schema)),
  ndjson: (a) => decoders.ndjson(Buffer.from(`${JSON.stringify({ a })}\n`)),
  cbor: (a) => decoders.cbor(encodeCbor({ a }, { float64: true })),
  msgpack: (a) => decoders.msgpack(encodeMsgpack({ a })),
  csv: (a) => csvDecoder({ ...stream, formatOptions: { columns: ['a'] } })(Buffer.from(`${a}`)),
  plain: (a) => plainDecoder(stream)(Buffer.from(`${a}`)),
  'senml-json': (v) => senmlJsonDecoder(stream)(Buffer.from(JSON.stringify([{ n: 'a', v }]))),
  'senml-cbor': (v) => senmlCborDecoder(stream)(encodeCbor([{ n: 'a', v }], { float64: true })),
  sparkplug: (a) => sparkplugDecoder(stream)(payloadOf([metric('Double', a, { name: 'a' })])),
}

test.each(Object.keys(floats))('any finite double is what it was in %s', (format) => {
  fc.assert(
    fc.property(anyNumber, (value) => {
      const message = (floats[format] as (value: number) => Message)(value)
      expect(storedOf(message)).toBe(`{"a":${canonicalNumber(value)}}`)
    }),
    { numRuns: 500 },
  )
})

function isKept(value: bigint): boolean {
  const double = Number(value)
  return BigInt(double) === value || String(double) === String(value)
}

/** As MessagePack has integers of 64 bits. */
const inBytes = (value: bigint) => {
  const bytes = Buffer.alloc(9)
  bytes[0] = value < 0n ? 0xd3 : 0xcf
  if (value < 0n) bytes.writeBigInt64BE(value, 1)
  else bytes.writeBigUInt64BE(value, 1)
  return Buffer.concat([Buffer.from('81a161', 'hex'), bytes])
}

describe('an integer of 64 bits', () => {
  const long = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.bigInt({ min: 2n ** 53n - 4n, max: 2n ** 53n + 16n }),
    fc.bigInt({ min: -(2n ** 53n) - 16n, max: -(2n ** 53n) + 4n }),
    // Of these many doubles are one, or are written like one.
    fc.bigInt({ min: 2n ** 52n, max: 2n ** 63n - 1n }).map((value) => BigInt(Number(value))),
    fc.double({ min: 2 ** 53, max: 2 ** 63, noNaN: true }).map((value) => BigInt(String(value))),
  )

  test('is stored where its double is it, or is written like it, and else refused in every format', () => {
    fc.assert(
      fc.property(long, (value) => {
        const messages = [
          decoders.json(Buffer.from(`{"a":${value}}`)),
          decoders.json(Buffer.from(`{"a":${value}}`), plainScanOf(stream.schema)),
          decoders.ndjson(Buffer.from(`{"a":${value}}`)),
          decoders.cbor(encodeCbor({ a: value })),
          decoders.msgpack(inBytes(value)),
          csvDecoder({ ...stream, formatOptions: { columns: ['a'] } })(Buffer.from(`${value}`)),
          plainDecoder(stream)(Buffer.from(`${value}`)),
        ]
        for (const message of messages) {
          const stored = storedOf(message)
          if (isKept(value)) expect(stored).toBe(`{"a":${canonicalNumber(Number(value))}}`)
          else expect(stored).toContain('beyond 2^53')
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('of a field of integers is not more than 2^53, however it is written', () => {
    const integers = judgeOf({ ...stream.schema, fields: { a: { type: 'integer' } } })
    for (const text of ['9007199254740994', '6.02e20', '602000000000000000000']) {
      const { readings } = decoders.json(Buffer.from(`{"a":${text}}`)) as DecodedMessage
      const verdict = integers(readings[0], { receivedAtUs, futureToleranceUs: 0 })
      expect(verdict).toMatchObject({ accepted: false, reason: 'schema_mismatch' })
    }
  })
})
