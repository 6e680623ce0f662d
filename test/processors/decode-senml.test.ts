import { encode } from 'cborg'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { senmlCborDecoder, senmlJsonDecoder } from '../../processors/decode-senml.ts'
import type { DecodedMessage } from '../../src/contracts/reading.ts'
import type { FormatOptions, TimestampFormat } from '../../src/contracts/stream-schema.ts'
import { hex, readingsOf } from '../support/binary-messages.ts'
import { decodedStream } from '../support/decoded-stream.ts'

const fields = { temperature: { type: 'number' } } as const
const nowUs = Date.UTC(2026, 0, 31, 10) * 1000

function decodeJson(
  pack: unknown,
  options: FormatOptions = {},
  format: TimestampFormat = 'rfc3339',
) {
  const stream = decodedStream(fields, options, { timestampFormat: format })
  return senmlJsonDecoder(stream)(Buffer.from(JSON.stringify(pack)))
}

/** The readings of a pack that came at `nowUs`. */
function readings(message: ReturnType<typeof decodeJson>): readonly unknown[] {
  if (!message.ok) throw new Error(message.problem)
  return message.readingsAt?.(nowUs) ?? []
}

const bn = 'urn:dev:ow:10e2073a0108006:'

describe('a SenML pack', () => {
  test('has one reading for each time, with fields by the names of the records', () => {
    // RFC 8428, section 5.1.2, in short.
    const pack = [
      { bn, bt: 1.276020076001e9, bu: 'A', bver: 5, n: 'voltage', u: 'V', v: 120.1 },
      { n: 'current', t: -5, v: 1.2 },
      { n: 'current', t: -4, v: 1.3 },
      { n: 'current', v: 1.7 },
    ]

    const message = decodeJson(pack)
    expect(message).toMatchObject({ isBatch: true, format: 'senml-json' })
    expect(readings(message)).toEqual([
      { timestamp: '2010-06-08T18:01:16.001000Z', voltage: 120.1, current: 1.7 },
      { timestamp: '2010-06-08T18:01:11.001000Z', current: 1.2 },
      { timestamp: '2010-06-08T18:01:12.001000Z', current: 1.3 },
    ])
  })

  test('adds base values and base sums, and keeps them until the next ones', () => {
    const pack = [
      { bn: 'a:', bv: 20, bs: 100 },
      { n: 'x', v: 1, s: 1 },
      { n: 'y', s: 2 },
      { bn: 'b:', bv: 0, n: 'z', v: 3 },
      { n: 'on', vb: true },
      { n: 'id', vs: 'abc' },
      { n: 'raw', vd: 'aGkgCg' },
    ]
    expect(readings(decodeJson(pack))).toEqual([
      { x: 21, x_sum: 101, y_sum: 102, z: 3, on: true, id: 'abc', raw: 'aGkgCg' },
    ])
  })

  test('counts times below 2^28 from the receipt', () => {
    const pack = [
      { bn, n: 'a', v: 1 },
      { n: 'a', t: -1.5, v: 2 },
      { n: 'a', t: 60, v: 3 },
      { n: 'a', t: 2 ** 28, v: 4 },
    ]
    expect(readings(decodeJson(pack))).toEqual([
      { a: 1 },
      { timestamp: '2026-01-31T09:59:58.500000Z', a: 2 },
      { timestamp: '2026-01-31T10:01:00.000000Z', a: 3 },
      { timestamp: '1978-07-04T21:24:16.000000Z', a: 4 },
    ])
  })

  test.each<[TimestampFormat, unknown]>([
    ['epoch_s', 1767225600.25],
    ['epoch_ms', 1767225600250],
    ['epoch_us', 1767225600250000],
  ])('says its times as the stream does: %s', (format, timestamp) => {
    const pack = [{ n: 'a', t: 1767225600.25, v: 1 }]
    expect(readings(decodeJson(pack, {}, format))).toEqual([{ timestamp, a: 1 }])
  })

  test.each<[string, object, string]>([
    ['the part behind the base name', { bn, n: 'temp/in-1' }, 'temp_in_1'],
    ['the last part of a whole name', { n: `${bn}temp` }, 'temp'],
    ['the last part of a base name', { bn: `${bn}temp/` }, 'temp'],
    ['a digit first', { bn, n: '1w' }, '_1w'],
    ['the name of the time', { bn, n: 'timestamp' }, '_timestamp'],
  ])('names a field after %s', (_, record, field) => {
    expect(readings(decodeJson([{ ...record, v: 1 }]))).toEqual([{ [field]: 1 }])
  })

  test('takes the field that the definition gives a full name', () => {
    const names = { [`${bn}t1`]: 'temperature' }
    expect(readings(decodeJson([{ bn, n: 't1', v: 1, s: 2 }], { names }))).toEqual([
      { temperature: 1, temperature_sum: 2 },
    ])
  })

  test('passes over labels that it does not know', () => {
    expect(readings(decodeJson([{ n: 'a', v: 1, ut: 5, note: { b: [1] } }]))).toEqual([{ a: 1 }])
  })

  test('refuses the reading with a field that no definition can have', () => {
    const message = decodeJson([
      { bn: 'a', n: '__proto__', v: 1, t: 0 },
      { n: 'b', v: 2, t: 1 },
    ])
    expect([...((message as DecodedMessage).unreadable ?? [])]).toEqual([
      [0, expect.stringContaining('__proto__')],
    ])
  })

  test('refuses the reading of a time that has two values for one field, and keeps its records', () => {
    const pack = [
      { bn: 'x:', n: 'a', v: 1 },
      { bn: 'y:', n: 'a', v: 2 },
      { n: 'a', t: -1, v: 3 },
    ]
    const message = decodeJson(pack) as DecodedMessage

    expect([...(message.unreadable ?? [])]).toEqual([[0, expect.stringContaining('two values')]])
    expect(readings(message)[1]).toMatchObject({ a: 3 })
    const kept = (message.elements?.(Buffer.alloc(0)) ?? []).map(
      (bytes) => JSON.parse(Buffer.from(bytes).toString()) as unknown,
    )
    expect(kept).toEqual([
      [
        { bn: 'x:', n: 'a', v: 1 },
        { bn: 'y:', n: 'a', v: 2 },
      ],
      [{ bn: 'y:', n: 'a', t: -1, v: 3 }],
    ])
    expect(readings(decodeJson(kept[1]))).toEqual([readings(message)[1]])
  })

  test.each<[string, unknown, string]>([
    ['an object', { n: 'a', v: 1 }, 'must be an array'],
    ['no records', [], 'empty'],
    ['no values', [{ bn }], 'empty'],
    ['a record that is none', [7], 'must be an object'],
    ['a label that must be understood', [{ n: 'a', v: 1, vat_: 1 }], "'vat_' must be understood"],
    ['a version to come', [{ bver: 11, n: 'a', v: 1 }], 'version 11'],
    ['no version', [{ bver: 0.5, n: 'a', v: 1 }], 'version 0.5'],
    [
      'two versions',
      [
        { bver: 5, n: 'a', v: 1 },
        { bver: 6, n: 'b', v: 1 },
      ],
      'different versions',
    ],
    ['two values', [{ n: 'a', v: 1, vs: 'x' }], 'both v and vs'],
    ['a text as value', [{ n: 'a', v: '1' }], "'v' must be a number"],
    ['a number as name', [{ n: 1, v: 1 }], "'n' must be a string"],
    ['null as time', [{ n: 'a', v: 1, t: null }], "'t' must be a number"],
    ['no name', [{ v: 1 }], 'not a name of a record'],
    ['a name with a space', [{ n: 'a b', v: 1 }], 'not a name of a record'],
    ['a name that begins wrongly', [{ n: '-a', v: 1 }], 'not a name of a record'],
    ['a time far away', [{ n: 'a', v: 1, t: 1e300 }], 'years 0001'],
    ['a time long ago', [{ n: 'a', v: 1, t: -1e12 }], 'years 0001'],
    ['a sum that a double would round', [{ bv: 2 ** 53, n: 'a', v: 1001 }], '9007199254741993 is'],
    ['too many records', Array.from({ length: 10_001 }, () => ({ n: 'a' })), 'more than 10000'],
  ])('that is or has %s is refused with the reason', (_, pack, problem) => {
    expect(decodeJson(pack)).toEqual({
      ok: false,
      problem: expect.stringContaining(problem) as string,
    })
  })

  test('with a key twice is refused', () => {
    const payload = Buffer.from('[{"n":"a","v":1,"v":2}]')
    expect(senmlJsonDecoder(decodedStream(fields))(payload)).toMatchObject({ ok: false })
  })
})

function decode(text: string) {
  return senmlJsonDecoder(decodedStream(fields))(Buffer.from(text))
}

describe('a record of a pack that may not be stored', () => {
  test.each([
    ['a key twice', '{"n":"a","v":1,"v":2}', 'the same key twice'],
    ['an integer that would be rounded', '{"n":"a","v":9007199254740993}', 'beyond 2^53'],
    ['U+0000', '{"n":"a","vs":"\\u0000"}', 'U+0000'],
    ['a lone surrogate', '{"n":"a","vs":"\\ud800"}', 'surrogates'],
    ['too many levels', `{"n":"a","x":${'['.repeat(70)}${']'.repeat(70)}}`, '64 levels'],
    ['a value of another type', '{"n":"a","v":"1"}', "'v' must be a number"],
    ['two values', '{"n":"a","v":1,"vs":"x"}', 'both v and vs'],
    ['a bad name', '{"n":"a b","v":1}', 'not a name of a record'],
    ['a time that is none', '{"n":"a","t":null,"v":1}', "'t' must be a number"],
    ['nothing of a record', '7', 'must be an object'],
  ])('%s: is refused alone, and kept with what holds for it', (_, record, problem) => {
    const before = '{"bn":"x:","bt":1700000000,"n":"a","v":1}'
    const message = decode(`[${before}, ${record} ,{"n":"a","t":5,"v":3}]`) as DecodedMessage

    expect(message.readings).toHaveLength(3)
    expect([...(message.unreadable ?? [])]).toEqual([[1, expect.stringContaining(problem)]])
    expect(message.readings[0]).toMatchObject({ a: 1 })
    expect(message.readings[2]).toMatchObject({ a: 3 })
    const kept = Buffer.from(message.elements?.(Buffer.alloc(0))[1] ?? []).toString()
    expect(kept).toBe(`[{"bn":"x:","bt":1700000000},${record}]`)
    // It is refused for the same reason when it is judged again.
    expect(decode(kept)).toEqual({
      ok: false,
      problem: (message.unreadable as ReadonlyMap<number, string>).get(1),
    })
  })

  test.each([
    ['a base value that comes twice', '{"bn":"y:","bn":"z:","n":"a","v":1}'],
    ['a base value that would be rounded', '{"bt":9007199254740993,"n":"a","v":1}'],
    ['a base value of another type', '{"bt":"1","n":"a","v":1}'],
    ['a label that must be understood', '{"n":"a","v":1,"vat_":1}'],
  ])('%s: the pack is refused, as nobody knows what holds for the rest', (_, record) => {
    expect(decode(`[{"n":"a","v":1},${record},{"n":"b","v":3}]`).ok).toBe(false)
  })

  test('in CBOR it is kept as a pack of CBOR', () => {
    // {"bn": "x:", "n": "a", "v": 1}, {"n": "a", "v": 1, "v": 2}, {"n": "a", "t": 5, "v": 3}
    const bad = 'a30061610201 0202'.replace(' ', '')
    const payload = Buffer.from(
      `83a32162783a0061610201${bad}a3006161060502fb4008000000000000`,
      'hex',
    )
    const message = decodeCbor(payload) as DecodedMessage

    expect([...(message.unreadable ?? [])]).toEqual([[1, expect.stringContaining('key twice')]])
    expect([...(message.elementFormats ?? [])]).toEqual([[1, 'senml-cbor']])
    const kept = message.elements?.(payload)[1] ?? Buffer.alloc(0)
    expect(Buffer.from(kept).toString('hex')).toBe(`82a12162783a${bad}`)
    expect(decodeCbor(kept)).toEqual({ ok: false, problem: message.unreadable?.get(1) })
  })
})

const numbers = { bver: -1, bn: -2, bt: -3, bu: -4, bv: -5, bs: -6, n: 0, u: 1, v: 2, vs: 3 }
const labels: Readonly<Record<string, number>> = { ...numbers, vb: 4, s: 5, t: 6, ut: 7, vd: 8 }

/** Writes a pack as RFC 8428, section 6, does. */
function cborOf(pack: readonly object[]): Uint8Array {
  const records = pack.map(
    (record) =>
      new Map<unknown, unknown>(
        Object.entries(record).map(([label, value]) => [
          labels[label] ?? label,
          label === 'vd' ? Buffer.from(value as string, 'base64url') : (value as unknown),
        ]),
      ),
  )
  return encode(records)
}

function decodeCbor(payload: Uint8Array) {
  return senmlCborDecoder(decodedStream(fields))(payload)
}

describe('a SenML pack in CBOR', () => {
  test('is the same readings as in JSON', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9:/._-]{0,8}$/)
    const number = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 })
    const value = fc.oneof(
      fc.record({ v: number }),
      fc.record({ vs: fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')) }),
      fc.record({ vb: fc.boolean() }),
      fc.record({ vd: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64url')) }),
      fc.record({ s: number }),
    )
    const record = fc
      .tuple(
        fc.record({ n: name }),
        value,
        fc.record({ bn: name, t: number, bt: number, bv: number }, { requiredKeys: [] }),
      )
      .map(([named, valued, rest]) => ({ ...rest, ...named, ...valued }))
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), (pack) => {
        const binary = decodeCbor(cborOf(pack))
        expect(readings(binary)).toEqual(readings(decodeJson(pack)))
      }),
    )
  })

  test('may have decimal fractions', () => {
    // [{0: "a", 2: 4([-1, 215])}]
    expect(readings(decodeCbor(hex('81a2 00 6161 02 c4 82 20 18d7')))).toEqual([{ a: 21.5 }])
  })

  test('that is one reading is kept as it came', () => {
    expect(decodeCbor(cborOf([{ n: 'a', v: 1 }]))).toMatchObject({ format: 'senml-cbor' })
    expect(decodeCbor(cborOf([{ n: 'a', v: 1 }]))).not.toHaveProperty('elements')
    const pack = [
      { n: 'a', v: 1 },
      { n: 'a', t: 1, v: 1 },
    ]
    expect(decodeCbor(cborOf(pack))).toMatchObject({ format: 'senml-json' })
  })

  test.each([
    ['an array as a key', '81a1 80 01'],
    ['a label twice, as number and as text', '81a3 00 6161 02 01 6176 02'],
    ['a decimal fraction of one part', '81a2 00 6161 02 c4 81 20'],
    ['a decimal fraction of texts', '81a2 00 6161 02 c4 82 6131 6132'],
    ['another tag', '81a2 00 6161 02 c2 41 01'],
    ['undefined', '81a2 00 6161 02 f7'],
    ['a map', 'a2 00 6161 02 01'],
    ['nothing', ''],
  ])('with %s is refused', (_, content) => {
    expect(decodeCbor(hex(content))).toMatchObject({ ok: false })
  })

  test.each([
    ['a million of them in each other', '81a102' + 'c4'.repeat(1_000_000)],
    ['of a map', '81a102c4a201020304'],
    ['of three parts', '81a102c483010203'],
  ])('refuses a decimal fraction: %s', (_, pack) => {
    expect(senmlCborDecoder(decodedStream(fields))(hex(pack))).toMatchObject({ ok: false })
  })

  test('NaN is left to the judge, who refuses its reading alone', () => {
    const pack = [
      { n: 'a', v: Number.NaN },
      { n: 'a', t: 1, v: 1 },
    ]
    expect(readingsOf(decodeCbor(cborOf(pack)))).toHaveLength(2)
  })

  test('of any bytes is readings or a problem', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          expect(decodeCbor(bytes)).toHaveProperty('ok')
          expect(senmlJsonDecoder(decodedStream(fields))(bytes)).toHaveProperty('ok')
        },
      ),
    )
  })
})
