import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, compareText } from '../../src/core/canonical-json.ts'

/** A JSON value as it comes out of a parser: -0 became 0, and objects are plain. */
const jsonValues = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown)

/** Puts the members of all objects of a value in the opposite order. */
function reversed(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(reversed)
  const members = Object.entries(value).map(([key, member]) => [key, reversed(member)] as const)
  return Object.fromEntries(members.toReversed())
}

describe('canonicalJson', () => {
  test('is read back as an equal value', () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(JSON.parse(canonicalJson(value))).toStrictEqual(value)
      }),
    )
  })

  test('does not depend on the order of members', () => {
    fc.assert(
      fc.property(jsonValues, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))
      }),
    )
  })

  test('is the same text for equal values only', () => {
    const small = fc
      .jsonValue({ maxDepth: 1, stringUnit: fc.constantFrom('a', '1', '"') })
      .map((value) => JSON.parse(JSON.stringify(value)) as unknown)
    fc.assert(
      fc.property(small, small, (left, right) => {
        const isSameText = canonicalJson(left) === canonicalJson(right)

        expect(isSameText).toBe(isDeepStrictEqual(left, right))
      }),
    )
  })

  test('has sorted keys and no white space', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'x y' }], a: true })).toBe(
      '{"a":true,"b":[1,{"c":"x y","d":null}]}',
    )
  })

  test('sorts keys by UTF-16 code units and not by a locale', () => {
    expect(canonicalJson({ ä: 1, a: 1, Z: 1, '\u{1F600}': 1, '\uFF5E': 1 })).toBe(
      '{"Z":1,"a":1,"ä":1,"\u{1F600}":1,"\uFF5E":1}',
    )
  })

  test('keeps a member that is named __proto__', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":2}}'))).toBe(
      '{"__proto__":{"a":2},"b":1}',
    )
  })

  test.each([
    ['-0', '0'],
    ['1.0', '1'],
    ['1e0', '1'],
    ['10e-1', '1'],
    ['0.1', '0.1'],
    ['1E21', '1e+21'],
    ['5e-324', '5e-324'],
  ])('writes the number %s as %s', (spelled, expected) => {
    expect(canonicalJson(JSON.parse(spelled))).toBe(expected)
  })
})

describe('compareText', () => {
  test('orders as sort does by default', () => {
    const units = fc.nat(0xffff).map((code) => String.fromCharCode(code))
    fc.assert(
      fc.property(fc.array(fc.string({ unit: units })), (texts) => {
        expect(texts.toSorted(compareText)).toEqual(texts.toSorted())
      }),
    )
  })
})
