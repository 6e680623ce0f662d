import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { otlpDecoder, otlpRecords } from '../../../processors/decode-otlp.ts'
import { decodedStream } from '../../support/decoded-stream.ts'
import { jsonOf, protobufOf, requestOf } from '../../support/otlp-messages.ts'

/** A request is refused with a problem, or read within bounds, whatever stands in it. */

const request = requestOf(
  {
    name: 'load',
    unit: '1',
    sum: {
      aggregationTemporality: 2,
      dataPoints: [
        {
          asDouble: 0.5,
          timeUnixNano: '5',
          attributes: [{ key: 'a', value: { stringValue: 'b' } }],
        },
        { asInt: '7' },
      ],
    },
  },
  { resource: { attributes: [{ key: 'host.name', value: { stringValue: 'b7' } }] } },
)

const inProtobuf = protobufOf(request)
const inJson = jsonOf(request)

describe('a request that is cut off', () => {
  test('in Protobuf is refused, unless it ends behind a resource', () => {
    for (let length = 1; length < inProtobuf.length; length++) {
      expect(otlpRecords(inProtobuf.subarray(0, length), 'protobuf')).toMatchObject({ ok: false })
    }
  })

  test('in JSON is refused', () => {
    for (let length = 0; length < inJson.length; length++) {
      expect(otlpRecords(inJson.subarray(0, length), 'json')).toMatchObject({ ok: false })
    }
  })
})

test('no change of a byte makes anything but a problem or records', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('protobuf' as const, 'json' as const),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      (encoding, changes) => {
        const bytes = Buffer.from(encoding === 'json' ? inJson : inProtobuf)
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte

        const read = otlpRecords(bytes, encoding)

        if (!read.ok) expect(read.problem).not.toBe('')
        else expect(read.records.length).toBeLessThanOrEqual(bytes.length)
      },
    ),
    { numRuns: 5_000 },
  )
})

test('no bytes make a decoder throw', () => {
  const decode = otlpDecoder(decodedStream({}))
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(decode(bytes)).toHaveProperty('ok')
    }),
    { numRuns: 3_000 },
  )
})

function nested(number: number, content: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(content).finish()
}

/** A request of one gauge, whose data are these bytes. */
function gaugeOf(data: Uint8Array): Uint8Array {
  const name = new BinaryWriter().tag(1, WireType.LengthDelimited).string('load').finish()
  return nested(1, nested(2, nested(2, Buffer.concat([name, nested(5, data)]))))
}

describe('lengths that lie', () => {
  test.each([
    ['of a resource', Buffer.from('0affffffff07', 'hex')],
    ['of a list of points', Buffer.from('0a08120612042a7f0a00', 'hex')],
    ['of a point', gaugeOf(Buffer.from('0affffff0f', 'hex'))],
  ])('%s refuse the request', (_, bytes) => {
    expect(otlpRecords(bytes, 'protobuf')).toEqual({ ok: false, problem: 'the message is cut off' })
  })

  test('within a point refuse it alone', () => {
    const good = Buffer.from('31 0700000000000000'.replace(' ', ''), 'hex')
    const bad = Buffer.from('3affff03', 'hex')
    const bytes = gaugeOf(Buffer.concat([nested(1, bad), nested(1, good)]))
    expect(otlpRecords(bytes, 'protobuf')).toMatchObject({
      records: [{ problem: 'the message is cut off' }, { members: { value: 7 } }],
    })
  })
})

test.each([
  ['a varint', Buffer.from('0805', 'hex'), 'a message is not written as one'],
  ['a group', Buffer.from('0b0c', 'hex'), 'a message is not written as one'],
])('%s in the place of a message is refused', (_, bytes, problem) => {
  expect(otlpRecords(bytes, 'protobuf')).toMatchObject({
    problem: expect.stringContaining(problem) as string,
  })
})

test('a text that is not UTF-8, or has U+0000, refuses its point alone', () => {
  const good = { asInt: '1' }
  const dataPoints = ['é', 'a\0'].map((stringValue) => ({
    asInt: '2',
    attributes: [{ key: 'a', value: { stringValue } }],
  }))
  const bytes = Buffer.from(
    protobufOf(requestOf({ name: 'm', gauge: { dataPoints: [good, ...dataPoints] } })),
  )
  // The second byte of é is no beginning of a character.
  bytes[bytes.indexOf(0xc3)] = 0xa9
  expect(otlpRecords(bytes, 'protobuf')).toMatchObject({
    records: [
      { members: { value: 1 } },
      { problem: 'a text is not valid UTF-8' },
      { problem: 'U+0000 is not allowed in text' },
    ],
  })
})

/** A value within lists or maps. */
function deepValue(levels: number, kind: 'arrayValue' | 'kvlistValue'): object {
  let value: object = { intValue: '1' }
  for (let level = 0; level < levels; level++) {
    value = { [kind]: { values: [kind === 'arrayValue' ? value : { key: 'k', value }] } }
  }
  return value
}

function requestOfValue(value: object) {
  const attributes = [{ key: 'a', value }]
  return requestOf({ name: 'm', gauge: { dataPoints: [{ asInt: '1', attributes }] } })
}

/** Written from the inside out: a library would do it level by level. */
function deepProtobuf(levels: number, isMap: boolean): Uint8Array {
  const writer = (content: Uint8Array) =>
    isMap ? nested(6, nested(1, nested(2, content))) : nested(5, nested(1, content))
  let value: Uint8Array = Buffer.from('1801', 'hex')
  for (let level = 0; level < levels; level++) value = writer(value)
  const attribute = Buffer.concat([Buffer.from('0a0161', 'hex'), nested(2, value)])
  return gaugeOf(nested(1, nested(7, attribute)))
}

describe('values within values', () => {
  test.each(['arrayValue', 'kvlistValue'] as const)('ten levels of %s are read', (kind) => {
    for (const read of [
      otlpRecords(protobufOf(requestOfValue(deepValue(10, kind))), 'protobuf'),
      otlpRecords(jsonOf(requestOfValue(deepValue(10, kind))), 'json'),
    ]) {
      expect(read).toMatchObject({ records: [{ members: { metric: 'm' } }] })
    }
  })

  test.each([false, true])('2,000 levels refuse the point (maps: %j)', (isMap) => {
    expect(otlpRecords(deepProtobuf(2_000, isMap), 'protobuf')).toMatchObject({
      records: [{ problem: 'messages are nested too deep' }],
    })
  })

  test('a hundred levels refuse a request in JSON', () => {
    const bytes = jsonOf(requestOfValue(deepValue(100, 'kvlistValue')))
    expect(otlpRecords(bytes, 'json')).toEqual({
      ok: false,
      problem: 'nested deeper than 64 levels',
    })
  })
})

const named = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: { intValue: '1' } }))

function noteOf(length: number) {
  return { attributes: [{ key: 'note', value: { stringValue: 'x'.repeat(length) } }] }
}

function pointsOf(count: number): Uint8Array {
  const dataPoints = Array.from({ length: count }, () => ({ asInt: '1' }))
  return protobufOf(requestOf({ name: 'm', gauge: { dataPoints } }))
}

describe('more than a request may have', () => {
  test('100,000 attributes of a point refuse it alone', () => {
    const dataPoints = [{ asInt: '1' }, { asInt: '2', attributes: named(100_000) }]
    const many = requestOf({ name: 'm', gauge: { dataPoints } })
    const problem = 'attributes has more than 10000 elements'
    for (const read of [
      otlpRecords(protobufOf(many), 'protobuf'),
      otlpRecords(jsonOf(many), 'json'),
    ]) {
      expect(read).toMatchObject({ records: [{ members: { value: 1 } }, { problem }] })
    }
  })

  test('100,000 attributes of a resource refuse its points', () => {
    const metric = { name: 'm', gauge: { dataPoints: [{ asInt: '1' }] } }
    const many = requestOf(metric, { resource: { attributes: named(100_000) } })
    const problem = 'attributes has more than 10000 elements'
    expect(otlpRecords(protobufOf(many), 'protobuf')).toMatchObject({ records: [{ problem }] })
    expect(otlpRecords(jsonOf(many), 'json')).toMatchObject({ records: [{ problem }] })
  })

  test('what many points would repeat of their resource is bounded', () => {
    const dataPoints = Array.from({ length: 10_000 }, () => ({ asInt: '1' }))
    const metric = { name: 'm', gauge: { dataPoints } }
    for (const [bytesOf, encoding] of [
      [protobufOf, 'protobuf'],
      [jsonOf, 'json'],
    ] as const) {
      const read = (length: number) =>
        otlpRecords(bytesOf(requestOf(metric, { resource: noteOf(length) })), encoding)
      expect(read(3_000)).toMatchObject({ ok: true })
      expect(read(4_000)).toEqual({
        ok: false,
        problem: 'too much is around the data points: send fewer of them in one request',
      })
    }
  })

  test('more than 100,000 points refuse the request, and more than 10,000 a message of a stream', () => {
    const decode = otlpDecoder(decodedStream({}))
    expect(decode(pointsOf(10_000))).toMatchObject({ ok: true })
    expect(decode(pointsOf(10_001))).toEqual({
      ok: false,
      problem: 'more than 10000 readings in one message',
    })
    expect(otlpRecords(pointsOf(100_000), 'protobuf')).toMatchObject({ ok: true })
    expect(otlpRecords(pointsOf(100_001), 'protobuf')).toEqual({
      ok: false,
      problem: 'there are more than 100000 data points in one request',
    })
  })

  test('a body of nothing but empty resources is refused', () => {
    const empty = Buffer.alloc(2 * 200_001)
    for (let at = 0; at < empty.length; at += 2) empty[at] = 0x0a
    expect(otlpRecords(empty, 'protobuf')).toEqual({
      ok: false,
      problem: 'there are too many parts in one request',
    })
  })

  test('values of nothing in 4 MiB are bounded', () => {
    // Attributes without a name and a value, in points of 9,000 each.
    const attributes = Buffer.alloc(2 * 9_000)
    for (let at = 0; at < attributes.length; at += 2) attributes[at] = 0x3a
    const value = Buffer.from('310700000000000000', 'hex')
    const point = nested(1, Buffer.concat([value, attributes]))
    const points = Buffer.concat(Array.from({ length: 230 }, () => point))
    const read = otlpRecords(gaugeOf(points), 'protobuf')
    if (!read.ok) throw new Error(read.problem)
    expect(new Set(read.records.map((record) => 'problem' in record && record.problem))).toEqual(
      new Set(['there are more than 1000 attributes', 'there are too many values in one message']),
    )
  })
})
