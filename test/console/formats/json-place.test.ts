import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineAndColumn, placeOf, placeOfDotted } from '../../../console/src/formats/json-place.ts'
import { type JsonNode, readJson } from '../../../console/src/formats/json-tree.ts'

const spaces = fc.constantFrom(undefined, 0, 1, 2, '\t')

/** Values without `-0`, which JSON has no way to print. */
const value = fc.jsonValue({ maxDepth: 4 }).map((one) => JSON.parse(JSON.stringify(one)) as unknown)

function treeOf(text: string): JsonNode {
  const read = readJson(text)
  if (!read.ok) throw new Error(`${read.problem.message} at ${read.problem.at}`)
  return read.root
}

/** Every path in a value, with what stands there. */
function* pathsIn(
  one: unknown,
  path: readonly string[] = [],
): Generator<[readonly string[], unknown]> {
  yield [path, one]
  if (typeof one !== 'object' || one === null) return
  for (const [name, member] of Object.entries(one)) yield* pathsIn(member, [...path, name])
}

describe('the place of a path', () => {
  test('holds the value that the path leads to', () => {
    fc.assert(
      fc.property(value, spaces, (whole, space) => {
        const text = JSON.stringify(whole, null, space)
        const root = treeOf(text)
        for (const [path, expected] of pathsIn(whole)) {
          const { start, end, isWhole } = placeOf(root, path)
          expect(isWhole).toBe(true)
          expect(JSON.parse(text.slice(start, end))).toEqual(expected)
        }
      }),
    )
  })

  test('is found with points in names, where only one way leads there', () => {
    const text = '{"a.b":{"c":1},"a":{"x":2},"list":[{"d.e":3}]}'
    const root = treeOf(text)
    const at = (path: string) => {
      const { start, end, isWhole } = placeOfDotted(root, path)
      return isWhole ? text.slice(start, end) : undefined
    }

    expect([at('a.b.c'), at('a.x'), at('list.0.d.e'), at('')]).toEqual(['1', '2', '3', text])
    expect(at('a.b.x')).toBeUndefined()
  })

  test('of what is missing is that of what would hold it', () => {
    const text = '{"a":{"b":{}}}'
    const { start, end, isWhole } = placeOfDotted(treeOf(text), 'a.b.c')

    expect([text.slice(start, end), isWhole]).toEqual(['{}', false])
  })

  test('is that of the last of two members with one name', () => {
    const { start } = placeOf(treeOf('{"a":1,"a":2}'), ['a'])

    expect(start).toBe(11)
  })
})

describe('a text', () => {
  test('is read exactly when it is JSON', () => {
    const broken = fc
      .tuple(
        value.map((one) => JSON.stringify(one)),
        fc.nat(),
        fc.string({ maxLength: 2 }),
      )
      .map(([text, at, put]) => {
        const place = at % (text.length + 1)
        return text.slice(0, place) + put + text.slice(place + 1)
      })
    fc.assert(
      fc.property(fc.oneof(broken, fc.string()), (text) => {
        const isJson = (() => {
          try {
            JSON.parse(text)
            return true
          } catch {
            return false
          }
        })()
        expect(readJson(text).ok).toBe(isJson)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['', 0, 'nothing yet'],
    ['{"a" 1}', 5, 'a colon'],
    ['{"a":1,}', 7, 'a name in double quotes'],
    ['[1 2]', 3, 'a comma or ]'],
    ['[tru]', 1, 'a value'],
    ['{"a":1', 6, 'it ends'],
    ['{} x', 3, 'nothing more'],
  ])('%s is none, at %i: %s', (text, at, message) => {
    expect(readJson(text)).toMatchObject({
      ok: false,
      problem: { at, message: expect.stringContaining(message) as string },
    })
  })

  test('that is too deep is a problem, and no crash', () => {
    expect(readJson('['.repeat(100_000))).toMatchObject({ ok: false })
  })

  test('has its lines and columns counted from 1', () => {
    const text = 'a\nbc\n'

    expect([0, 1, 2, 4, 5].map((at) => lineAndColumn(text, at))).toEqual([
      { line: 1, column: 1 },
      { line: 1, column: 2 },
      { line: 2, column: 1 },
      { line: 2, column: 3 },
      { line: 3, column: 1 },
    ])
  })
})
