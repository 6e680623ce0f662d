import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileExpression } from '../../processors/expression.ts'
import type { FieldMap } from '../../src/contracts/stream-schema.ts'

const fields: FieldMap = {
  text: { type: 'string' },
  part: { type: 'string' },
  other: { type: 'string' },
  n: { type: 'integer' },
  m: { type: 'integer' },
  list: { type: 'array', items: { type: 'string' } },
}

function evaluated(expression: string, values: object = {}): unknown {
  const result = compileExpression(expression, fields)({ ...values }, () => '')
  if (!('value' in result)) return { problem: result.problem }
  const { value } = result
  const isList = typeof value === 'object' && value !== null && Symbol.iterator in value
  return isList ? [...(value as Iterable<unknown>)] : value
}

const text = fc.string({
  unit: fc.constantFrom('a', 'B', ',', ' ', 'é', 'ß', '😀', '\u3000'),
  maxLength: 30,
})
const part = fc.string({ unit: fc.constantFrom('a', ',', '😀'), minLength: 1, maxLength: 2 })

describe('texts', () => {
  test('are split where a separator stands, and joined again', () => {
    fc.assert(
      fc.property(text, part, (whole, separator) => {
        const values = { text: whole, part: separator }
        expect(evaluated('text.split(part)', values)).toEqual(whole.split(separator))
        expect(evaluated('text.split(part).join(part)', values)).toBe(whole)
        expect(evaluated('text.split("")', values)).toEqual(Array.from(whole))
      }),
    )
  })

  test('are split into so many parts at most, of which the last one has the rest', () => {
    fc.assert(
      fc.property(text, part, fc.integer({ min: 1, max: 5 }), (whole, separator, n) => {
        const values = { text: whole, part: separator, n }
        const parts = evaluated('text.split(part, n)', values) as string[]
        expect(parts.length).toBe(Math.min(n, whole.split(separator).length))
        expect(parts.join(separator)).toBe(whole)
        expect(evaluated('text.split(part, -1)', values)).toEqual(whole.split(separator))
        expect(evaluated('text.split(part, 0)', values)).toEqual([])
      }),
    )
  })

  test('are replaced everywhere, or so many times', () => {
    fc.assert(
      fc.property(text, part, text, fc.integer({ min: -1, max: 4 }), (whole, from, to, n) => {
        const values = { text: whole, part: from, other: to, n }
        expect(evaluated('text.replace(part, other)', values)).toBe(
          whole.replaceAll(from, () => to),
        )
        let expected = ''
        let rest = whole
        for (let left = n < 0 ? 99 : n; left > 0 && rest.includes(from); left--) {
          const at = rest.indexOf(from)
          expected += rest.slice(0, at) + to
          rest = rest.slice(at + from.length)
        }
        expect(evaluated('text.replace(part, other, n)', values)).toBe(expected + rest)
      }),
    )
  })

  test('are counted by their characters, and never cut within one', () => {
    fc.assert(
      fc.property(text, part, fc.nat(40), fc.nat(40), (whole, wanted, n, m) => {
        const values = { text: whole, part: wanted, n, m }
        const points = Array.from(whole)
        const found = evaluated('text.substring(n, m)', values)
        if (n <= m && m <= points.length) expect(found).toBe(points.slice(n, m).join(''))
        else expect(found).toEqual({ problem: expect.stringContaining('substring') })
        const rest = evaluated('text.substring(n)', values)
        if (n <= points.length) {
          expect(rest).toBe(points.slice(n).join(''))
          expect(evaluated('text.charAt(n)', values)).toBe(points[n] ?? '')
        } else expect(rest).toEqual({ problem: expect.stringContaining('substring') })
        const place = (unit: number) =>
          BigInt(unit < 0 ? unit : Array.from(whole.slice(0, unit)).length)
        expect(evaluated('text.indexOf(part)', values)).toBe(place(whole.indexOf(wanted)))
        expect(evaluated('text.lastIndexOf(part)', values)).toBe(place(whole.lastIndexOf(wanted)))
      }),
    )
  })

  test.each([
    ['" \\t\\u3000a b\\n\\u0085".trim()', 'a b'],
    ['"\\ufeffa".trim()', '\ufeffa'],
    ['"ÄaZ".lowerAscii()', 'Äaz'],
    ['"äaz".upperAscii()', 'äAZ'],
    ['"ÄaZ".lower()', 'äaz'],
    ['"äaz".upper()', 'ÄAZ'],
    ['"rssi=-71;snr=9".split(";")[0].split("=")[1]', '-71'],
    ['double("21,5 °C".replace(",", ".").split(" ")[0])', 21.5],
    ['["a", "b"].join()', 'ab'],
  ])('%s', (expression, expected) => {
    expect(evaluated(expression)).toBe(expected)
  })

  test.each([
    ['"a".replace("", "b")', 'replace: the text to look for is empty'],
    ['"abc".substring(4)', 'substring: there is no character 4, the text has 3'],
    ['"abc".substring(2, 1)', 'substring: it begins at 2, behind its end at 1'],
    ['"abc".charAt(-1)', 'charAt: there is no character -1'],
    ['["a", 1].join()', 'join: the list has something that is not a text'],
  ])('%s is an error that says what is wrong', (expression, problem) => {
    expect(evaluated(expression)).toEqual({ problem: expect.stringContaining(problem) })
  })
})

describe('the work with texts is bounded', () => {
  const tooMuch = { problem: 'needs more work than one reading may take' }
  const long = 'a'.repeat(10_000)
  const ten = '"aaaaaaaaaa"'

  test.each([
    ['a replacement that grows', `"a"${`.replace("a", ${ten})`.repeat(20)}`, {}],
    [
      'a replacement that grows from nothing but numbers',
      `string(n)${`.replace("1", "1111111111")`.repeat(20)} == ""`,
      { n: 1 },
    ],
    ['a long replacement', 'text.replace("a", text)', { text: 'a'.repeat(1_000) }],
    ['many parts', 'size(text.split("a"))', { text: long }],
    ['many characters', 'size(text.split(""))', { text: long }],
    ['a search that is slow', 'text.indexOf(part)', { text: long, part: `b${'a'.repeat(4_000)}` }],
    [
      'the same from the end',
      'text.lastIndexOf(part)',
      { text: long, part: `${'a'.repeat(4_000)}b` },
    ],
    ['a long separator', 'list.join(text)', { text: long, list: Array<string>(10).fill('a') }],
    ['a long text', 'text.lower()', { text: 'a'.repeat(50_000) }],
    [
      'texts in every round of a loop',
      'list.all(x, size(text.replace("b", "c")) > 0)',
      { text: 'a'.repeat(1_000), list: Array<string>(100).fill('a') },
    ],
    [
      'a pattern on a text that was made',
      `${ten}${`.replace("a", ${ten})`.repeat(3)}.matches("(a|b)*a(a|b){12}")`,
      {},
    ],
  ])('%s', (_, expression, values) => {
    expect(evaluated(expression, values)).toEqual(tooMuch)
  })
})
