import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileExpression, type Values } from '../../processors/expression.ts'
import type { FieldMap } from '../../src/contracts/stream-schema.ts'

const fields: FieldMap = {
  n: { type: 'number' },
  text: { type: 'string' },
  list: { type: 'array', items: { type: 'number' } },
  place: { type: 'object' },
}

function evaluated(expression: string, values: Values = {}) {
  return compileExpression(expression, fields)(values, () => '2026-03-01T00:00:00.000000Z')
}

describe('an expression is refused', () => {
  test.each([
    ['with more than 1,000 characters', `n > ${'0'.repeat(1_000)}`, 'more than 1000 characters'],
    ['with too many parts', `n${'+n'.repeat(400)}`, 'more than 300 parts'],
    ['with too many brackets', `${'('.repeat(33)}n${')'.repeat(33)}`, '32 brackets'],
    ['with too many loops in each other', 'list.all(x,'.repeat(33), '32 brackets'],
    ['that has no end', 'n +', 'unexpected|expect'],
    ['that is empty', '', 'expect'],
    ['with an unknown field', 'm > 1', 'there is no field m'],
    ['with an unknown function', 'n.explode()', 'there is no function explode'],
    ['with unknown mathematics', 'math.explode(n)', 'there is no function math.explode'],
    ['with a type of the library', 'google.protobuf.Any{}', 'there is no type'],
    ['that asks for a type', 'type(n) == double', 'there is no function type|no field double'],
    ['with a zone', 'timestamp(timestamp).getHours("Europe/Berlin")', 'in UTC'],
    ['with a pattern that is computed', 'text.matches(text)', 'between quotes'],
    ['with a pattern that is long', `text.matches("${'a'.repeat(101)}")`, '100 characters'],
    ['with a pattern that repeats', 'text.matches("((a{10}){10}){10}")', 'repeats too much'],
    ['with a large class of characters', 'text.matches("\\\\pL")', 'cannot use'],
  ])('%s', (_, expression, problem) => {
    expect(() => compileExpression(expression, fields)).toThrow(new RegExp(problem))
  })

  test.each(['constructor', '__proto__', 'toString', 'globalThis', 'process', 'this'])(
    'with a name that objects or machines have: %s',
    (name) => {
      expect(() => compileExpression(name, fields)).toThrow()
    },
  )
})

describe('an expression reaches nothing but the reading', () => {
  const place = JSON.parse(
    '{"constructor": {"name": "Object"}, "$typeName": "google.protobuf.Any", "__proto__": 7}',
  ) as object

  test.each([
    'place.toString',
    'place["hasOwnProperty"]',
    'text.constructor',
    'list.length',
    'list["constructor"]',
    'n.toFixed',
  ])('%s is not there', (expression) => {
    expect(evaluated(expression, { text: 'a', list: [1], place, n: 1 })).toHaveProperty('problem')
  })

  test.each([
    ['place.constructor.name', 'Object'],
    ['place["$typeName"]', 'google.protobuf.Any'],
    ['place.__proto__', 7],
  ])('%s is what was sent', (expression, value) => {
    expect(evaluated(expression, { place })).toEqual({ value })
  })
})

describe('the work of an expression is bounded', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => index)
  const hundred = many.slice(0, 100)
  const long = 'a'.repeat(1_000_000)
  const tooMuch = { problem: 'needs more work than one reading may take' }

  test.each([
    ['a loop over many elements', 'list.all(x, x >= 0)', { list: many }],
    ['a loop that finds nothing', 'list.exists(x, x < 0)', { list: many }],
    ['loops within each other', 'list.all(x, list.all(y, x + y >= 0))', { list: hundred }],
    ['lists of lists', 'size(list.map(x, list.map(y, list))) > 0', { list: hundred }],
    ['a list that grows', 'list.map(x, list + list).all(x, x == list)', { list: hundred }],
    ['a search in every round', 'list.all(x, !(-1.0 in list))', { list: hundred }],
    ['a comparison in every round', 'list.all(x, list == list)', { list: hundred }],
    ['a failing loop', 'list.exists(x, x / "a" == 1) || true', { list: many }],
    [
      'a loop over members',
      'place.all(x, place.all(y, x != y || true))',
      {
        place: Object.fromEntries(hundred.map((index) => [`k${index}`, index])),
      },
    ],
    ['a long text', 'text.contains("b")', { text: long }],
    ['the size of a long text', 'size(text) > 5', { text: long }],
    ['a text that grows', `text${' + text'.repeat(100)} == "a"`, { text: 'a'.repeat(1_000) }],
    ['a comparison of long texts', 'text < text + "a"', { text: long }],
    ['a pattern on a long text', 'text.matches("(a|b)*c")', { text: 'a'.repeat(10_000) }],
    ['a pattern with many states', 'text.matches("(a|b)*a(a|b){12}")', { text: 'ab'.repeat(500) }],
    [
      'a pattern in every round',
      'list.exists(x, text.matches("a+b"))',
      {
        list: hundred,
        text: 'a'.repeat(100),
      },
    ],
  ] as const)('%s', (_, expression, values) => {
    expect(evaluated(expression, values)).toEqual(tooMuch)
  })

  test('and leaves room for ordinary work', () => {
    const values = { list: hundred, text: 'PUMP-1234', n: 4, place: { floor: 3 } }
    const expressions = [
      'list.all(x, x >= 0 && x < 100)',
      'size(list.filter(x, x > 50)) == 49',
      'text.matches("^PUMP-[0-9]+$")',
      'place.floor in [1, 2, 3.0]',
      'text.startsWith("PUMP") && text + "!" == "PUMP-1234!"',
    ]
    expect(expressions.map((each) => evaluated(each, values))).toEqual(
      expressions.map(() => ({ value: true })),
    )
  })

  test('anew for every reading', () => {
    const run = compileExpression('list.all(x, x >= 0)', fields)
    expect(run({ list: many }, String)).toEqual(tooMuch)
    expect(run({ list: hundred }, String)).toEqual({ value: true })
  })
})

test('whatever the values are, an expression has a value or a problem', () => {
  const run = compileExpression(
    'size(list) > 0 && list[0] == n || place.a.b in [text] && text.contains("a")',
    fields,
  )
  const values = fc.record(
    { n: fc.double(), text: fc.string(), list: fc.array(fc.jsonValue()), place: fc.jsonValue() },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(values, (reading) => {
      const result = run(reading, () => '')
      expect(Object.keys(result)).toHaveLength(1)
    }),
    { numRuns: 500 },
  )
})

const at = () => '2026-03-01T00:00:00.000000Z'

describe('an allowance that evaluations share', () => {
  test.each([
    ['n + 1.0', { n: 1 }, 3],
    ['list.all(x, x >= 0.0)', { list: Array<number>(100).fill(1) }, 100],
  ])('is used up by %s, and by nothing else', (expression, values, least) => {
    const run = compileExpression(expression, fields)
    const allowance = { left: least }
    expect(run(values, at, allowance)).not.toHaveProperty('problem')

    expect(allowance.left).toBeLessThanOrEqual(0)
    expect(run(values, at, allowance).problem).toContain('send fewer at once')
    expect(run(values, at, { left: 1 })).not.toHaveProperty('problem')
    expect(run(values, at)).not.toHaveProperty('problem')
  })
})
