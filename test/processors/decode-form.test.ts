import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formDecoder } from '../../processors/decode-form.ts'
import type { FieldMap } from '../../src/contracts/stream-schema.ts'
import { readingsOf } from '../support/binary-messages.ts'
import { decodedStream } from '../support/decoded-stream.ts'

const fields = {
  level: { type: 'number' },
  count_of: { type: 'integer' },
  open: { type: 'boolean' },
  note: { type: 'string' },
  doors: { type: 'array', items: { type: 'integer' } },
  outside: { type: 'number', from: 'tempf' },
} as const satisfies FieldMap

function decode(body: string | Uint8Array) {
  return formDecoder(decodedStream(fields))(Buffer.from(body))
}

function problemOf(body: string | Uint8Array): string | undefined {
  const found = decode(body)
  return found.ok ? undefined : found.problem
}

function formOf(count: number): string {
  return Array.from({ length: count }, (_, at) => `n${at}=1`).join('&')
}

describe('a form', () => {
  test('is one reading, whose texts are read by the types of the fields', () => {
    const body = 'level=21.5&count_of=3&open=on&note=warm%2C+at+last%C2%A0&other=1'

    const found = decode(body)

    expect(found).toMatchObject({ ok: true, isBatch: false, format: 'form' })
    expect(readingsOf(found)).toEqual([
      { level: 21.5, count_of: 3, open: true, note: 'warm, at last\u00a0', other: '1' },
    ])
  })

  test('is read by the field that a path leads to it from', () => {
    expect(readingsOf(decode('tempf=70.5'))).toEqual([{ tempf: 70.5 }])
  })

  test('has a list where a name is repeated, if its field is an array', () => {
    expect(readingsOf(decode('doors=1&level=2&doors=3'))).toEqual([{ doors: [1, 3], level: 2 }])
    expect(readingsOf(decode('doors=1'))).toEqual([{ doors: [1] }])
    expect(problemOf('level=1&level=2')).toBe('level comes twice, and is not an array')
    expect(problemOf('other=1&other=2')).toBe('other comes twice, and is not an array')
  })

  test('has no value for what was left empty', () => {
    expect(readingsOf(decode('level=&note=x&&'))).toEqual([{ note: 'x' }])
  })

  test('keeps the digits of a time', () => {
    const times = { timestampField: 'at', timestampFormat: 'epoch_s' } as const
    const decoder = formDecoder(decodedStream({}, {}, times))
    expect(readingsOf(decoder(Buffer.from('at=1769853598.230')))).toEqual([{ at: 1769853598.23 }])
  })

  test.each([
    ['', 'the form is empty'],
    ['&&', 'the form is empty'],
    ['{"level":1}', '{"level":1} has no = behind its name'],
    ['=1', 'a value has no name'],
    ['note=100%', '100% has a broken percent escape'],
    ['note=%zz', '%zz has a broken percent escape'],
    ['note=%ff', '%ff has a broken percent escape'],
    ['n%ote=1', 'n%ote has a broken percent escape'],
    ['note=a%00b', 'U+0000 is not allowed in text'],
    ['__proto__=1', '__proto__ is not a name of a field'],
    ['level=9007199254740993', 'the integer 9007199254740993 is beyond 2^53 and would be rounded'],
    [Buffer.of(0x61, 0x3d, 0xff), 'not valid UTF-8'],
  ])('is refused: %s', (body, problem) => {
    expect(problemOf(body)).toBe(problem)
  })

  test('has a limit of pairs', () => {
    expect(problemOf(formOf(1_000))).toBeUndefined()
    expect(problemOf(formOf(1_001))).toBe('the form has more than 1000 pairs')
    expect(problemOf('&'.repeat(4_000_000))).toBe('the form is empty')
  })

  test('says what URLSearchParams has written', () => {
    const name = fc.string({ minLength: 1 }).filter((text) => !/\0/.test(text))
    const text = fc.string({ unit: 'binary', minLength: 1 }).filter((one) => !/\0/.test(one))
    const pairs = fc.uniqueArray(
      fc.tuple(
        fc.constant('x_').chain((x) => name.map((n) => x + n)),
        text,
      ),
      {
        selector: ([first]) => first,
        minLength: 1,
        maxLength: 20,
      },
    )
    fc.assert(
      fc.property(pairs, (all) => {
        const body = new URLSearchParams(all.map(([key, value]): [string, string] => [key, value]))
        expect(readingsOf(decode(body.toString()))).toEqual([Object.fromEntries(all)])
      }),
    )
  })
})
