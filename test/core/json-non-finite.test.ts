import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readNonFinite } from '../../src/core/json-non-finite.ts'

const notFinite = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
const text = fc.oneof(
  fc.string(),
  fc.constantFrom('NaN', '"NaN', '\\', '\\"NaN,', '-Infinity]', '[Infinity,'),
)
/** The engine takes one escaped character for another in names that are nothing else: `JSON.parse` does as well. */
const nameOf = text.filter((name) => name.length !== 1)
const leaf = fc.oneof(fc.constantFrom<unknown[]>(...notFinite, null, true), fc.integer(), text)
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(nameOf, tie('tree'), { maxKeys: 4 }),
  ),
}))

/** As Python's `json.dumps` writes it, with or without white space. */
function written(value: unknown, space: string): string {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const list = (parts: readonly string[]) => parts.join(`,${space}`)
  if (Array.isArray(value)) return `[${list(value.map((one) => written(one, space)))}]`
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${space}${written(member, space)}`,
  )
  return `{${list(members)}}`
}

function hasNonFinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(hasNonFinite)
}

describe('readNonFinite', () => {
  test('reads what was written, and nothing where JSON can say it', () => {
    fc.assert(
      fc.property(tree, fc.constantFrom('', ' ', '\n'), (value, space) => {
        const read = readNonFinite(written(value, space))
        if (hasNonFinite(value)) expect(read?.value).toEqual(value)
        else expect(read).toBeUndefined()
      }),
      { numRuns: 1_000 },
    )
  })

  test('gives a text of JSON in which the other numbers are as they were', () => {
    const read = readNonFinite('[1.50, NaN, -Infinity, "NaN"]')
    expect(JSON.parse(read?.text ?? '')).toEqual([1.5, Infinity, -Infinity, 'NaN'])
    expect(read?.text.startsWith('[1.50, ')).toBe(true)
  })

  test.each([
    '',
    'xNaN',
    '[NaN1]',
    '[1NaN]',
    '[5.NaN]',
    '[1eNaN]',
    '[NaNNaN]',
    '{NaN:1}',
    '[NaN',
    '[NaN,]',
    '["NaN]',
    '[nan]',
    '[+Infinity]',
    '[Infinity e5]',
    '[NaN"a"]',
  ])('answers nothing for %j', (broken) => {
    expect(readNonFinite(broken)).toBeUndefined()
  })
})
