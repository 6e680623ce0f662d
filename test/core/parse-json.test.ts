import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../src/core/parse-json.ts'
import { naughtyTexts } from '../support/naughty-texts.ts'

describe('parseJson', () => {
  test('reads a key that has escapes where an object before has had a backslash', () => {
    for (const [before, sent] of [
      ['\\', '\n'],
      ['\\', '"'],
      ['\\\\', '\\n'],
      ['\\\\', '\\"'],
    ] as const) {
      for (let round = 0; round < 100; round++) {
        parseJson(JSON.stringify([{ a: [], [before]: 0 }]))
        expect(parseJson(JSON.stringify([{ a: 1, [sent]: 0 }]))).toEqual([{ a: 1, [sent]: 0 }])
      }
    }
  })

  test('reads what JSON.stringify has written, with any white space', () => {
    const key = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...naughtyTexts))
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        fc.constantFrom(...naughtyTexts),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(Object.fromEntries),
      ),
    }))
    const indent = fc.constantFrom('', ' ', '\n', '\t\r')
    fc.assert(
      fc.property(value, indent, (sent, space) => {
        const text = JSON.stringify(sent, undefined, space)
        expect(JSON.stringify(parseJson(text), undefined, space)).toBe(text)
      }),
      { numRuns: 300 },
    )
  })

  test('reads a key that comes twice, and one that is __proto__, as JSON.parse does', () => {
    const text = '{"__proto__":{"\\n":1},"a\\n":1,"b":2,"a\\n":3}'
    expect(Object.entries(parseJson(text) as object)).toEqual([
      ['__proto__', { '\n': 1 }],
      ['a\n', 3],
      ['b', 2],
    ])
  })

  test('reads what is nested as deep as JSON.parse reads', () => {
    const deep = `${'[{"\\n":'.repeat(50_000)}[]${'}]'.repeat(50_000)}`
    let levels = 0
    for (let at = parseJson(deep); Array.isArray(at) && at.length > 0; levels++) at = at[0]['\n']
    expect(levels).toBe(50_000)
  })

  test.each(['', '{"a\\n":1', '{"a\\n"', '"\\', '"\\"', '[1,]', 'x\\y'])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError)
  })

  test('lets others stand for scalars, by their text and key, also where keys have escapes', () => {
    const seen: string[] = []
    const text = '{"a\\n":1.50,"b":["x",{"c\\t":null}],"d":{}}'
    const value = parseJson(text, (_, source, key) => {
      seen.push(`${key}: ${source}`)
      return source
    })
    expect(value).toEqual({ 'a\n': '1.50', b: ['"x"', { 'c\t': 'null' }], d: {} })
    expect(seen).toEqual(['a\n: 1.50', '0: "x"', 'c\t: null'])
    expect(parseJson('{"a":1.50}', (_, source) => source)).toEqual({ a: '1.50' })
    expect(parseJson('1.50', (_, source, key) => [source, key])).toEqual(['1.50', ''])
  })
})
