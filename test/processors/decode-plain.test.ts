import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainDecoder } from '../../processors/decode-plain.ts'
import { judgeOf } from '../../processors/index.ts'
import type { FieldType } from '../../src/contracts/stream-schema.ts'
import { readingsOf } from '../support/binary-messages.ts'
import { decodedStream } from '../support/decoded-stream.ts'
import { naughtyTexts } from '../support/naughty-texts.ts'

function decode(payload: string | Uint8Array, type: FieldType = 'number') {
  return plainDecoder(decodedStream({ value: { type } }))(Buffer.from(payload))
}

/** What the stages behind the decoder say, of a payload that is a reading. */
function verdictOn(payload: string, type: FieldType) {
  const stream = decodedStream({ value: { type } })
  const [reading] = readingsOf(plainDecoder(stream)(Buffer.from(payload)))
  return judgeOf(stream.schema)(reading, { receivedAtUs: 0, futureToleranceUs: 0 })
}

describe('a plain payload', () => {
  test.each<[FieldType, string, unknown]>([
    ['number', '21.5', 21.5],
    ['number', '-0.25', -0.25],
    ['number', '1e3', 1000],
    ['number', '9007199254740992', 2 ** 53],
    ['number', '0.10000000000000000000', 0.1],
    ['integer', '7', 7],
    ['integer', '7.0', 7],
    ['boolean', 'true', true],
    ['boolean', 'ON', true],
    ['boolean', '1', true],
    ['boolean', 'False', false],
    ['boolean', 'off', false],
    ['boolean', '0', false],
    ['string', ' 21.5 ', ' 21.5 '],
    ['string', 'true', 'true'],
    ['datetime', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
  ])('is the value of a field of the type %s: %s', (type, payload, value) => {
    expect(decode(payload, type)).toEqual({
      ok: true,
      readings: [{ value }],
      isBatch: false,
      format: 'plain',
    })
    expect(verdictOn(payload, type)).toMatchObject({ accepted: true })
  })

  test.each<[FieldType, string]>([
    ...[' 21.5', '21.5\n', '+21.5', '021.5', '.5', '5.', '21,5', '0x10', '1e', 'on', 'true', '٣']
      .concat('NaN', 'nan', 'Infinity', '-', '--1', '1 2', '"21.5"', '1_000', '9'.repeat(1_001))
      .map((text): [FieldType, string] => ['number', text]),
    ['integer', '7.5'],
    ['boolean', 'yes'],
    ['boolean', 'true '],
    ['boolean', '2'],
    ['datetime', '2026-01-01'],
  ])('that is no %s is refused, naming the field: %j', (type, payload) => {
    const verdict = verdictOn(payload, type)

    expect(verdict).toMatchObject({
      reason: 'schema_mismatch',
      details: [{ path: 'value', message: expect.stringMatching(/^must be/) as string }],
    })
  })

  test.each<[string, string | Uint8Array, string]>([
    ['nothing', '', 'empty'],
    ['an integer that would be rounded', '9007199254740993', 'beyond 2^53'],
    ['a negative one', '-9007199254740993', 'beyond 2^53'],
    ['no UTF-8', Buffer.of(0xff), 'UTF-8'],
    ['a byte order mark', '\ufeff21.5', 'byte order mark'],
    ['U+0000', '21.5\0', 'U+0000'],
  ])('that is %s is refused with the reason', (_, payload, problem) => {
    expect(decode(payload)).toEqual({
      ok: false,
      problem: expect.stringContaining(problem) as string,
    })
  })

  test.each(naughtyTexts.filter((text) => text !== ''))(
    'that is the text %j is that text',
    (text) => {
      expect(verdictOn(text, 'string')).toMatchObject({
        accepted: true,
        values: JSON.stringify({ value: text }),
      })
    },
  )

  test('beyond what a double can hold is refused', () => {
    expect(verdictOn('1e400', 'number')).toMatchObject({ reason: 'malformed' })
  })

  test('is the value of the named field, or of the only one that is not the time', () => {
    const fields = { at: { type: 'datetime' }, level: { type: 'number' } } as const
    const payload = Buffer.from('3')

    const named = decodedStream(fields, { field: 'level' })
    expect(readingsOf(plainDecoder(named)(payload))).toEqual([{ level: 3 }])
    const only = decodedStream(fields, {}, { timestampField: 'at' })
    expect(readingsOf(plainDecoder(only)(payload))).toEqual([{ level: 3 }])
    expect(plainDecoder(decodedStream(fields))(payload)).toMatchObject({ ok: false })
  })

  test('of any double is that double', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
        (number) => {
          expect(readingsOf(decode(JSON.stringify(number)))).toEqual([{ value: number + 0 }])
        },
      ),
    )
  })

  test('of any bytes and for any type is a reading or a problem', () => {
    const types = fc.constantFrom<FieldType>('number', 'integer', 'boolean', 'string', 'datetime')
    fc.assert(
      fc.property(fc.uint8Array(), types, (bytes, type) => {
        expect(decode(bytes, type)).toHaveProperty('ok')
      }),
    )
  })
})
