import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decoderOf } from '../../processors/decode.ts'
import { readingsPerMessageMax } from '../../processors/decode-batch.ts'
import { decodeJson } from '../../processors/decode-json.ts'
import { jsonElements } from '../../processors/json-elements.ts'

function decoded(text: string) {
  return decodeJson(Buffer.from(text))
}

const plainSchema = {
  fields: { a: { type: 'number' } },
  validation: 'lenient',
  timestampField: 'timestamp',
  timestampFormat: 'rfc3339',
} as const

function batchOf(count: number) {
  return decoded(`[${Array(count).fill('{}').join(',')}]`)
}

function problemOf(payload: Uint8Array): string | undefined {
  const message = decodeJson(payload)
  return message.ok ? undefined : message.problem
}

const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 })
const spaced = (inner: fc.Arbitrary<string>) =>
  fc.tuple(space, inner, space).map((parts) => parts.join(''))

/** The text of any JSON value, with white space wherever it may stand, as no printer writes it. */
const { value: jsonText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(
      '1.0',
      '1e0',
      '-0',
      'true',
      'null',
      '""',
      '"]"',
      '"\\""',
      '"\\\\"',
      '"\\u005d,"',
    ),
    fc.jsonValue({ maxDepth: 0 }).map((value) => JSON.stringify(value)),
    fc.array(spaced(tie('value')), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(
        fc.tuple(spaced(fc.string().map((key) => JSON.stringify(key))), spaced(tie('value'))),
        {
          maxLength: 4,
        },
      )
      .map((members) => `{${members.map((member) => member.join(':')).join(',')}}`),
  ),
}))

describe('decodeJson', () => {
  test('keeps keys with escapes as they were sent, whatever was sent before', () => {
    for (const [before, sent] of [
      ['\\', '\n'],
      ['\\', '"'],
    ] as const) {
      decoded(JSON.stringify({ a: 1, [before]: 0 }))
      const reading = { a: 1, [sent]: 0 }
      expect(decoded(JSON.stringify(reading))).toMatchObject({ readings: [reading] })
    }
  })

  test('refuses U+0000 in a key, whatever key was sent before', () => {
    for (let round = 0; round < 100; round++) {
      decoded(JSON.stringify({ a: 1, '\\': 0 }))
      expect(decoded('{"a":1,"\\u0000":0}')).toMatchObject({ ok: false })
    }
  })

  test('takes an object as one reading', () => {
    expect(decoded('{"a":1}')).toMatchObject({ ok: true, readings: [{ a: 1 }], isBatch: false })
  })

  test('takes an array as a batch, even of one reading', () => {
    expect(decoded('[{"a":1}]')).toMatchObject({ ok: true, readings: [{ a: 1 }], isBatch: true })
  })

  test('leaves elements that are no objects to the judge, who refuses them one by one', () => {
    expect(decoded('[1,{"a":1},null]')).toMatchObject({
      ok: true,
      readings: [1, { a: 1 }, null],
      isBatch: true,
    })
  })

  test('looks at its own bytes only when they are a part of others', () => {
    const bytes = Buffer.from('xx{"a":1}yy')

    expect(decodeJson(bytes.subarray(2, -2))).toMatchObject({ ok: true, readings: [{ a: 1 }] })
  })

  test.each(['1', '"text"', 'true', 'null'])('refuses the scalar %s', (text) => {
    expect(decoded(text)).toEqual({ ok: false, problem: expect.stringContaining('an object') })
  })

  test.each(['', ' ', '{', '{"a":01}', '{"a":NaN}', "{'a':1}", '{"a":1}{"a":2}', '[1,]'])(
    'refuses %j, which is no JSON',
    (text) => {
      expect(decoded(text)).toEqual({
        ok: false,
        problem: expect.stringContaining('not valid JSON'),
      })
    },
  )

  test('leaves an element with NaN, which JSON has not, to the judge', () => {
    expect(decoded('[{"a":NaN},{"a":1},{"a":-Infinity},NaN]')).toMatchObject({
      ok: true,
      readings: [{ a: Number.NaN }, { a: 1 }, { a: Number.NEGATIVE_INFINITY }, Number.NaN],
    })
  })

  test('says of each element with NaN what else is wrong with it', () => {
    const message = decoded('[{"a":NaN,"a":1},{"a":NaN,"b":"\\u0000"},{"a":NaN}]')
    expect(message).toMatchObject({ ok: true })
    expect([...((message.ok && message.unreadable) || [])]).toEqual([
      [0, expect.stringContaining('same key twice')],
      [1, expect.stringContaining('U+0000')],
    ])
  })

  test.each([
    ['takes NaN for a value that is missing', { values: { missing: ['nan'] } }, true],
    ['has a field that does', { fields: { a: { type: 'number', missing: ['NaN'] } } }, true],
    ['finds its readings within messages', { items: [{ path: 'a', as: 'list' }] }, true],
    ['does none of that', { values: { missing: ['na', null] } }, false],
  ] as const)('an object with NaN is for a stream that %s', (_, more, isTaken) => {
    const schema = { ...plainSchema, ...more }
    const payload = Buffer.from('{"a":NaN}')
    expect(decoderOf('json', { schema })(payload)).toMatchObject(
      isTaken
        ? { ok: true, readings: [{ a: Number.NaN }] }
        : { ok: false, problem: expect.stringContaining('not valid JSON') as string },
    )
  })

  test('refuses an empty batch', () => {
    expect(decoded(' [ ] ')).toEqual({ ok: false, problem: 'the batch is empty' })
  })

  test('takes as many readings as one message may carry, and not one more', () => {
    expect(batchOf(readingsPerMessageMax).ok).toBe(true)
    expect(batchOf(readingsPerMessageMax + 1)).toEqual({
      ok: false,
      problem: expect.stringContaining(String(readingsPerMessageMax)),
    })
  })

  test.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a truncated sequence', [0xe2, 0x82]],
    ['a byte beyond Unicode', [0xf5, 0x80, 0x80, 0x80]],
  ])('refuses invalid UTF-8: %s', (_, bytes) => {
    const payload = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')])

    expect(problemOf(payload)).toBe('not valid UTF-8')
  })

  test('accepts a replacement character that was sent as such', () => {
    expect(decoded('{"a":"\uFFFD"}')).toMatchObject({ readings: [{ a: '\uFFFD' }] })
  })

  test('refuses a byte order mark', () => {
    expect(decoded('\uFEFF{"a":1}').ok).toBe(false)
  })

  test.each([
    '9007199254740992',
    '-9007199254740992',
    '900719925474099',
    '0',
    '-0',
    '9007199254740994',
    '1000000000000000000000',
    '602000000000000000000',
    '-602000000000000000000',
    '123456789012345680000',
  ])('accepts the integer %s, which its double is, or is written as', (literal) => {
    expect(decoded(`{"a":${literal}}`)).toMatchObject({ readings: [{ a: Number(literal) }] })
  })

  test.each([
    '{"a":9007199254740993}',
    '{"a":-9007199254740993}',
    '{"a":9007199254740995}',
    '{"a":602000000000000000001}',
    '{"a":123456789012345678901}',
    `{"a":1${'0'.repeat(400)}}`,
    '{"a":[{"b":123456789012345678901234567890}]}',
  ])('refuses %s, whose integer a double would round', (text) => {
    expect(decoded(text)).toEqual({ ok: false, problem: expect.stringContaining('beyond 2^53') })
  })

  test.each(['1.2345678901234567', '12345678901234567.5', '1e22', '1.7976931348623157e308'])(
    'accepts the finite float %s, which is no integer literal',
    (literal) => {
      expect(decoded(`{"a":${literal}}`).ok).toBe(true)
    },
  )

  test('does not take digits in a text for an integer', () => {
    expect(decoded('{"a":"12345678901234567890"}').ok).toBe(true)
  })

  test.each(['{"a":"x\\u0000"}', '{"x\\u0000":1}', '{"a":[["\\u0000"]]}'])(
    'refuses U+0000 in %s',
    (text) => {
      expect(decoded(text)).toEqual({ ok: false, problem: expect.stringContaining('U+0000') })
    },
  )

  test.each(['{"a":"\\ud800"}', '{"a":"\\udc00\\ud800"}', '{"\\udfff":1}', '{"a":["x\\ud83d"]}'])(
    'refuses the lone surrogate in %s',
    (text) => {
      expect(decoded(text)).toEqual({ ok: false, problem: expect.stringContaining('surrogates') })
    },
  )

  test('accepts a surrogate pair, escaped or not', () => {
    const message = decoded('[{"a":"\\ud83d\\ude00"},{"a":"\u{1F600}"}]')

    expect(message).toMatchObject({ readings: [{ a: '\u{1F600}' }, { a: '\u{1F600}' }] })
  })

  test.each([
    '{"a":1,"a":2}',
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '{"a":{"b":1,"c":2,"b":3}}',
    '{"__proto__":1,"__proto__":2}',
  ])('refuses duplicate keys, of which one would be lost: %s', (text) => {
    expect(decoded(text)).toEqual({ ok: false, problem: expect.any(String) })
  })

  test('accepts one key in several objects', () => {
    expect(decoded('[{"a":{"a":1}},{"a":"\\"a\\":1,\\"a\\":2"}]').ok).toBe(true)
  })

  test.each(['[', '{"a":'])(
    'answers content nested a hundred thousand levels deep by %s',
    (open) => {
      const close = open === '[' ? ']' : '}'
      const text = open.repeat(100_000) + '1234567890123456' + close.repeat(100_000)

      expect(decoded(text)).toHaveProperty('ok')
    },
  )

  test('answers any bytes', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (payload) => {
          expect(decodeJson(payload)).toHaveProperty('ok')
        },
      ),
    )
  })
})

function arrayElementTexts(text: string): string[] {
  return jsonElements(Buffer.from(text)).map((element) => Buffer.from(element).toString())
}

describe('jsonElements', () => {
  test('gives the exact text of each element, whatever white space stands between', () => {
    const parts = fc.tuple(space, jsonText, space)
    fc.assert(
      fc.property(fc.array(parts, { minLength: 1 }), space, space, (elements, before, after) => {
        const list = elements.map((element) => element.join('')).join(',')

        expect(arrayElementTexts(`${before}[${list}]${after}`)).toEqual(
          elements.map(([, text]) => text),
        )
      }),
      { numRuns: 300 },
    )
  })

  test('keeps escapes and the spelling of numbers', () => {
    expect(arrayElementTexts('[{ "a" : 1.0 },"\\"],[\\\\",1E+2]')).toEqual([
      '{ "a" : 1.0 }',
      '"\\"],[\\\\"',
      '1E+2',
    ])
  })
})
