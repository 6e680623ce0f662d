import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { encode as encodeMsgpack } from '@msgpack/msgpack'
import { encode as encodeCbor } from 'cborg'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decoders } from '../../processors/decode.ts'
import { csvDecoder } from '../../processors/decode-csv.ts'
import { plainDecoder } from '../../processors/decode-plain.ts'
import { protobufDecoder } from '../../processors/decode-protobuf.ts'
import { senmlCborDecoder, senmlJsonDecoder } from '../../processors/decode-senml.ts'
import { sparkplugDecoder } from '../../processors/decode-sparkplug.ts'
import { judgeOf } from '../../processors/index.ts'
import { plainScanOf } from '../../processors/scan.ts'
import { sparkplugStep, unknownNode } from '../../processors/sparkplug.ts'
import {
  decodeSparkplugPayload,
  type SparkplugPayload,
} from '../../processors/sparkplug-payload.ts'
import type { DecodedMessage, UndecodableMessage } from '../../src/contracts/reading.ts'
import { canonicalNumber } from '../../src/core/canonical-json.ts'
import { anyLong, anyNumber, isKept } from '../support/any-numbers.ts'
import { decodedStream } from '../support/decoded-stream.ts'
import { base64, descriptorOf, encoderOf, field } from '../support/protobuf-messages.ts'
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

/** As MessagePack has integers of 64 bits. */
const inBytes = (value: bigint) => {
  const bytes = Buffer.alloc(9)
  bytes[0] = value < 0n ? 0xd3 : 0xcf
  if (value < 0n) bytes.writeBigInt64BE(value, 1)
  else bytes.writeBigUInt64BE(value, 1)
  return Buffer.concat([Buffer.from('81a161', 'hex'), bytes])
}

/** Types of Protobuf with 64 bits, and what they hold. */
const wideTypes = [
  ['UINT64', 0n, 2n ** 64n - 1n],
  ['FIXED64', 0n, 2n ** 64n - 1n],
  ['INT64', -(2n ** 63n), 2n ** 63n - 1n],
  ['SINT64', -(2n ** 63n), 2n ** 63n - 1n],
  ['SFIXED64', -(2n ** 63n), 2n ** 63n - 1n],
] as const

/** A message with a field of each of these types in a reading of its own: what stands in one of them. */
const protobufs = new Map(
  wideTypes.map(([type]) => {
    const file = { messageType: [{ name: 'M', field: [field(type, 'a', 1)] }] }
    const protobuf = { descriptor: base64(descriptorOf(file)), message: 'M' }
    const decode = protobufDecoder({ ...stream, formatOptions: { protobuf } })
    return [type, { decode, encode: encoderOf(file, 'M') }] as const
  }),
)

function protobufOf(type: (typeof wideTypes)[number][0], a: bigint): Message {
  const { decode, encode } = protobufs.get(type) ?? {}
  return decode?.(encode?.({ a }) ?? Buffer.alloc(0)) ?? { ok: false, problem: 'no such type' }
}

/** As Sparkplug has integers of 64 bits: without a sign, and a type that may give them one. */
function metricOf(value: bigint): Uint8Array {
  const datatype = value < 0n ? 4 : 8
  const metricBytes = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string('a')
    .tag(4, WireType.Varint)
    .uint32(datatype)
    .tag(11, WireType.Varint)
    .uint64(BigInt.asUintN(64, value))
    .finish()
  return new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(metricBytes).finish()
}

function doubleMetric(alias: bigint, name: string | undefined, value: number): Uint8Array {
  const writer = new BinaryWriter()
  if (name !== undefined) writer.tag(1, WireType.LengthDelimited).string(name)
  return writer
    .tag(2, WireType.Varint)
    .uint64(alias)
    .tag(4, WireType.Varint)
    .uint32(10)
    .tag(13, WireType.Bit64)
    .double(value)
    .finish()
}

function sparkplugPayload(metrics: readonly Uint8Array[]): SparkplugPayload {
  const writer = new BinaryWriter()
  for (const one of metrics) writer.tag(2, WireType.LengthDelimited).bytes(one)
  return decodeSparkplugPayload(writer.finish()) as SparkplugPayload
}

describe('an integer of 64 bits', () => {
  test('is stored where its double is it, or is written like it, and else refused in every format', () => {
    fc.assert(
      fc.property(anyLong, (value) => {
        const messages = [
          decoders.json(Buffer.from(`{"a":${value}}`)),
          decoders.json(Buffer.from(`{"a":${value}}`), plainScanOf(stream.schema)),
          decoders.ndjson(Buffer.from(`{"a":${value}}`)),
          decoders.cbor(encodeCbor({ a: value })),
          decoders.msgpack(inBytes(value)),
          csvDecoder({ ...stream, formatOptions: { columns: ['a'] } })(Buffer.from(`${value}`)),
          plainDecoder(stream)(Buffer.from(`${value}`)),
          senmlJsonDecoder(stream)(Buffer.from(`[{"n":"a","v":${value}}]`)),
          senmlCborDecoder(stream)(encodeCbor([{ n: 'a', v: value }])),
          sparkplugDecoder(stream)(metricOf(value)),
          ...wideTypes
            .filter(([, least, most]) => value >= least && value <= most)
            .map(([type]) => protobufOf(type, value)),
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

  test('that SenML adds up is stored where the double of the sum is it', () => {
    const counted = fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n })
    fc.assert(
      fc.property(counted, counted, (base, own) => {
        const pack = `[{"n":"a","bv":${base},"v":${own}}]`
        const stored = storedOf(senmlJsonDecoder(stream)(Buffer.from(pack)))
        const sum = base + own
        if (isKept(sum)) expect(stored).toBe(`{"a":${canonicalNumber(Number(sum))}}`)
        else expect(stored).toContain(`${sum} is beyond 2^53`)
      }),
      { numRuns: 500 },
    )
  })

  test('is the name of a metric of Sparkplug, whichever it is: its neighbours are other names', () => {
    const births = [2n ** 64n - 1n, 2n ** 64n - 2n, 2n ** 53n + 1n]
    const topic = { group: 'g', node: 'n', device: undefined } as const
    const birth = sparkplugPayload(
      births.map((alias, index) => doubleMetric(alias, `m${index}`, 0)),
    )
    const { node } = sparkplugStep(
      unknownNode,
      { topic: { ...topic, type: 'NBIRTH' }, payload: birth },
      false,
    )
    const data = sparkplugPayload(
      births.map((alias, index) => doubleMetric(alias, undefined, index)),
    )
    const { metrics } = sparkplugStep(
      node,
      { topic: { ...topic, type: 'NDATA' }, payload: data },
      false,
    )
    expect(metrics.map(({ name, metric: { double_value } }) => [name, double_value])).toEqual([
      ['m0', 0],
      ['m1', 1],
      ['m2', 2],
    ])
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
