import { encode as encodeMsgpack } from '@msgpack/msgpack'
import { encode as encodeCbor } from 'cborg'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decoders } from '../../processors/decode.ts'
import { judgeOf } from '../../processors/index.ts'
import type { DecodedMessage, UndecodableMessage } from '../../src/contracts/reading.ts'
import { hex, readingsOf } from '../support/binary-messages.ts'

const receipt = { receivedAtUs: 1_767_225_600_000_000, futureToleranceUs: 300_000_000 }
const { cbor: decodeCbor, msgpack: decodeMsgpack, json: decodeJson } = decoders

/** What both binary formats are written by: libraries that know nothing of our readers. */
const binary = [
  ['cbor', decodeCbor, (value: unknown) => encodeCbor(value)],
  ['msgpack', decodeMsgpack, (value: unknown) => encodeMsgpack(value, { useBigInt64: true })],
] as const

/** Any value that JSON can write and that a reading may have. */
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(
      '\ufeff begins with a mark',
      'a'.repeat(40),
      '\ufeff'.repeat(300),
      'é'.repeat(99),
    ),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.constantFrom(2 ** 53, -(2 ** 53), 2 ** 31, 2 ** 32, -(2 ** 31) - 1, -0, 1e22, 0.1),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null),
    fc.array(tie('value'), { maxLength: 20 }),
    fc.dictionary(fc.string().filter(isKey), tie('value'), { maxKeys: 20 }),
  ),
}))

/** Lone surrogates and U+0000 have tests of their own. */
function isKey(text: string): boolean {
  return text !== '__proto__' && text.isWellFormed() && !text.includes('\0')
}

const anyReading = fc.dictionary(fc.string().filter(isKey), anyValue, { maxKeys: 20 })

describe.each(binary)('%s', (format, decode, encode) => {
  test('takes a map as one reading, and an array as a batch, even of one', () => {
    expect(decode(encode({ a: 1 }))).toEqual({
      ok: true,
      readings: [{ a: 1 }],
      isBatch: false,
      format,
    })
    expect(decode(encode([{ a: 1 }]))).toMatchObject({ readings: [{ a: 1 }], isBatch: true })
  })

  test('reads the values that JSON reads, and they have the same identity', () => {
    const judge = judgeOf({
      fields: { level: { type: 'number' } },
      validation: 'lenient',
      timestampField: 'timestamp',
      timestampFormat: 'rfc3339',
    })
    fc.assert(
      fc.property(fc.array(anyReading, { minLength: 1, maxLength: 5 }), (readings) => {
        const text = JSON.stringify(readings)
        // JSON refuses what stands in it as an integer and is none: the same value as a float.
        fc.pre(isWhole(decodeJson(Buffer.from(text))))
        const fromJson = readingsOf(decodeJson(Buffer.from(text)))
        const fromBinary = readingsOf(decode(encode(readings)))

        expect(fromBinary.map((reading) => judge(reading, receipt))).toEqual(
          fromJson.map((reading) => judge(reading, receipt)),
        )
      }),
      { numRuns: 500 },
    )
  })

  test('keeps the bytes of each element of a batch', () => {
    fc.assert(
      fc.property(fc.array(anyValue, { minLength: 1, maxLength: 30 }), (values) => {
        const message = encode(values)
        const padded = Buffer.concat([hex('0102'), message, hex('03')]).subarray(2, -1)
        const { elements } = decode(padded) as DecodedMessage

        expect(elements?.(padded).map((element) => hexOf(element))).toEqual(
          values.map((value) => hexOf(encode(value))),
        )
      }),
    )
  })

  test.each([
    ['a number', 1],
    ['a text', 'text'],
    ['null', null],
    ['true', true],
  ])('refuses %s, which is no reading', (_, value) => {
    expect(decode(encode(value))).toEqual({ ok: false, problem: expect.stringContaining('a map') })
  })

  test('refuses an empty batch, and one of more than 10,000 readings', () => {
    expect(decode(encode([]))).toEqual({ ok: false, problem: 'the batch is empty' })
    expect(decode(encode(empty(10_000))).ok).toBe(true)
    expect(decode(encode(empty(10_001)))).toEqual({
      ok: false,
      problem: expect.stringContaining('10000'),
    })
  })

  test.each([
    ['an integer beyond 2^53', { a: 2n ** 53n + 1n }, 'beyond 2^53'],
    ['an integer below -2^53', { a: -(2n ** 53n) - 1n }, 'beyond 2^53'],
    ['the largest of 64 bits', { a: 2n ** 64n - 1n }, 'beyond 2^53'],
    ['a byte string', { a: Buffer.from('x') }, 'byte strings'],
    ['U+0000 in a text', { a: 'x\0' }, 'U+0000'],
    ['U+0000 in a key', { 'x\0': 1 }, 'U+0000'],
  ])('refuses %s', (_, value, reason) => {
    expect(decode(encode(value))).toEqual({ ok: false, problem: expect.stringContaining(reason) })
  })

  test('refuses bytes after the message', () => {
    const message = Buffer.concat([encode({ a: 1 }), encode(1)])

    expect(decode(message)).toEqual({ ok: false, problem: '1 bytes follow the message' })
  })

  test('takes 64 levels, and not one more', () => {
    const nested = (levels: number): unknown => (levels === 1 ? {} : [nested(levels - 1)])

    expect(decode(encode({ a: nested(63) })).ok).toBe(true)
    expect(decode(encode({ a: nested(64) }))).toMatchObject({
      problem: expect.stringContaining('64 levels'),
    })
  })

  test('refuses a message that was cut off, wherever it was', () => {
    fc.assert(
      fc.property(anyReading, fc.double({ min: 0, max: 1, maxExcluded: true }), (reading, part) => {
        const message = encode([reading])

        expect(decode(message.subarray(0, Math.floor(message.length * part))).ok).toBe(false)
      }),
    )
  })

  test('answers any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(decode(bytes)).toHaveProperty('ok')
      }),
      { numRuns: 20_000 },
    )
  })

  test('reads what was changed in one byte as something else, or not at all', () => {
    fc.assert(
      fc.property(anyReading, fc.nat(), fc.nat(255), (reading, at, byte) => {
        const message = Uint8Array.from(encode([reading, reading]))
        message[at % message.length] = byte

        expect(decode(message)).toHaveProperty('ok')
      }),
      { numRuns: 2_000 },
    )
  })

  test('a member named __proto__ pollutes nothing and is refused with its reading alone', () => {
    const judge = judgeOf({
      fields: {},
      validation: 'lenient',
      timestampField: 'timestamp',
      timestampFormat: 'rfc3339',
    })
    const hostile = JSON.parse('{"__proto__":{"isAdmin":true}}') as object
    const [bad, good] = readingsOf(decode(encode([hostile, { a: 1 }])))

    expect(bad).not.toHaveProperty('isAdmin')
    expect(judge(bad, receipt)).toMatchObject({
      reason: 'malformed',
      message: expect.stringContaining('__proto__'),
    })
    expect(judge(good, receipt).accepted).toBe(true)
  })
})

function isWhole(message: DecodedMessage | UndecodableMessage): boolean {
  return message.ok && message.unreadable === undefined
}

function empty(count: number): object[] {
  return Array.from({ length: count }, () => ({}))
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

describe('announced lengths', () => {
  test.each([
    ['cbor', decodeCbor, '9a00003fff'],
    ['cbor', decodeCbor, 'ba00003fff6161'],
    ['msgpack', decodeMsgpack, 'dd00003fff'],
    ['msgpack', decodeMsgpack, 'df00003fffa161'],
  ])('of %s that are nested take no memory: %#', (_, decode, head) => {
    const message = Buffer.alloc(4 * 1024 * 1024, hex(head))
    const before = process.memoryUsage().heapUsed

    expect(decode(message).ok).toBe(false)

    expect(process.memoryUsage().heapUsed - before).toBeLessThan(32 * 1024 * 1024)
  })
})
