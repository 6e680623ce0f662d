import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileExpression } from '../../processors/expression.ts'

const conversions = ['double', 'int', 'bool', 'timestamp', 'duration'] as const
const compiled = new Map(
  [...conversions, 'string'].map((name) => [
    name,
    compileExpression(`string(${name}(text))`, { text: { type: 'string' } }),
  ]),
)

/** What a text is converted to, as a text again; undefined when it is refused. */
function converted(name: string, text: string): unknown {
  const found = compiled.get(name)?.({ text }, () => '')
  return found !== undefined && 'value' in found ? found.value : undefined
}

describe('a text that is nothing of the kind is an error', () => {
  const blanks = ['', ' ', '\t', '\n', '\u00a0', '\ufeff', '\u3000']

  test.each(conversions)('%s of an empty text, or of blanks', (name) => {
    for (const text of blanks) expect(converted(name, text)).toBeUndefined()
  })

  const numbers = ['0x10', '0b1', '0o7', '1_000', '1,5', '١', '１', '1n', '--1', '+-1', '1 2', 'e5']
  const words = ['NaN', 'nan', 'Infinity', '-Infinity', 'inf', 'true', 'null', '1.5.1', '0x', '.']

  test.each([...numbers, ...words])('%s is no number', (text) => {
    expect([converted('double', text), converted('int', text)]).toEqual([undefined, undefined])
  })

  test.each(['1e400', '-1e309', '9'.repeat(400)])('%s is no number that there is', (text) => {
    expect(converted('double', text)).toBeUndefined()
  })

  test.each(['1.0', '1e3', '.5', '9223372036854775808', '-9223372036854775809'])(
    '%s is no integer of 64 bits',
    (text) => {
      expect(converted('int', text)).toBeUndefined()
    },
  )

  test.each([
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00',
    '2026-01-01',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00+0100',
    '2026-01-01T00:00:00+24:00',
    '0000-01-01T00:00:00Z',
    '1767225600',
  ])('%s is no time', (text) => {
    expect(converted('timestamp', text)).toBeUndefined()
  })

  test.each(['+', '-', '1', '1 s', 's', '.s', '1d', '1s1', '1e3s', '0x1s', '300000000h', 'P1D'])(
    '%s is no duration',
    (text) => {
      expect(converted('duration', text)).toBeUndefined()
    },
  )

  test('with a blank before or behind it', () => {
    const goods = { double: '1.5', int: '12', bool: 'true', duration: '1s' }
    const all = { ...goods, timestamp: '2026-01-01T00:00:00Z' }
    for (const [name, text] of Object.entries(all)) {
      expect(converted(name, text)).toBeDefined()
      for (const blank of blanks.filter((one) => one !== '')) {
        expect([converted(name, blank + text), converted(name, text + blank)]).toEqual([
          undefined,
          undefined,
        ])
      }
    }
  })
})

describe('a text that is one is converted', () => {
  test('to the double that is nearest to it', () => {
    const doubles = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(doubles, (value) => {
        expect(Number(converted('double', String(value)))).toBe(value + 0)
      }),
    )
    expect(['.5', '5.', '+5', '1E3', '007'].map((text) => converted('double', text))).toEqual([
      '0.5',
      '5',
      '5',
      '1000',
      '7',
    ])
  })

  test('to an integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        expect(converted('int', String(value))).toBe(String(value))
      }),
    )
    expect([converted('int', '+5'), converted('int', '-007')]).toEqual(['5', '-7'])
  })

  test('to a time', () => {
    const dates = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(dates, (date) => {
        const found = converted('timestamp', date.toISOString())
        expect(new Date(String(found)).getTime()).toBe(date.getTime())
      }),
    )
    const time = '2024-02-29T23:30:00.5'
    expect(
      [`${time}Z`, `${time.toLowerCase()}z`, `${time}-01:00`].map((text) =>
        converted('timestamp', text),
      ),
    ).toEqual(['2024-02-29T23:30:00.500Z', '2024-02-29T23:30:00.500Z', '2024-03-01T00:30:00.500Z'])
  })

  test('to a duration', () => {
    const texts = ['0', '-0', '1h30m', '-1.5s', '+2us', '.5ms', '1m1.', '100ns']
    expect(texts.map((text) => converted('duration', text))).toEqual([
      '0s',
      '0s',
      '5400s',
      '-1.500s',
      '0.000002s',
      '0.000500s',
      undefined,
      '0.000000100s',
    ])
  })

  test('and any text is a text', () => {
    fc.assert(fc.property(fc.string(), (text) => converted('string', text) === text))
  })
})
