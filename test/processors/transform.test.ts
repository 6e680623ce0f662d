import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeOf } from '../../processors/index.ts'
import type { Verdict } from '../../src/contracts/reading.ts'
import type { FieldMap, StreamSchema } from '../../src/contracts/stream-schema.ts'
import type { DerivedType, TransformStep } from '../../src/contracts/transform-step.ts'

const receipt = { receivedAtUs: Date.UTC(2026, 2, 1) * 1000, futureToleranceUs: 300_000_000 }

const numbers: FieldMap = { a: { type: 'number' }, b: { type: 'number' } }

function judged(
  reading: unknown,
  transform: readonly TransformStep[],
  schema: Partial<StreamSchema> = {},
): Verdict {
  const judge = judgeOf(
    {
      fields: numbers,
      validation: 'lenient',
      timestampField: 'timestamp',
      timestampFormat: 'rfc3339',
      ...schema,
    },
    transform,
  )
  return judge(reading, receipt)
}

/** What is stored of a reading. */
function stored(
  reading: unknown,
  transform: readonly TransformStep[],
  fields: FieldMap = numbers,
): unknown {
  const verdict = judged(reading, transform, { fields })
  if ('values' in verdict) return JSON.parse(verdict.values)
  throw new Error('message' in verdict ? verdict.message : 'filtered')
}

const derive = (expression: string, type: DerivedType = 'number'): TransformStep => ({
  derive: { field: 'result', type, expression },
})

const filter = (expression: string): TransformStep => ({ filter: { expression } })

describe('a transform', () => {
  test('of no steps leaves the verdict as it is', () => {
    expect(judged({ a: 1, other: 2 }, [])).toEqual(
      judgeOf({
        fields: numbers,
        validation: 'lenient',
        timestampField: 'timestamp',
        timestampFormat: 'rfc3339',
      })({ a: 1, other: 2 }, receipt),
    )
  })

  test('runs its steps in their order', () => {
    const steps: TransformStep[] = [
      { rename: { from: 'a', to: 'c' } },
      { scale: { field: 'c', factor: 2, offset: 1 } },
      { derive: { field: 'sum', type: 'number', expression: 'c + b' } },
      { drop: { field: 'b' } },
    ]
    expect(stored({ a: 3, b: 10 }, steps)).toEqual({ c: 7, sum: 17 })
  })

  test('leaves the identity of the reading alone', () => {
    const plain = judged({ a: 3, b: 10 }, [])
    const changed = judged({ a: 3, b: 10 }, [{ drop: { field: 'a' } }])

    expect('digest' in changed && changed.digest).toBe('digest' in plain && plain.digest)
  })

  test('leaves unknown fields as they were sent', () => {
    expect(judged({ a: 1, c: 5 }, [{ rename: { from: 'a', to: 'c' } }])).toMatchObject({
      values: '{"c":1}',
      extra: '{"c":5}',
    })
  })

  test('does nothing to a field that is absent', () => {
    const line = { start: 0, factor: 1, isDivided: false, offset: 273.15 }
    const steps: TransformStep[] = [
      { rename: { from: 'a', to: 'c' } },
      { scale: { field: 'c', factor: 2, offset: 0 } },
      { convert: { field: 'b', from: 'degC', to: 'K', line } },
      { drop: { field: 'b' } },
    ]
    expect(stored({}, steps)).toEqual({})
  })

  test('carries the mark of a value out of range to its new name', () => {
    const fields: FieldMap = { a: { type: 'number', max: 5 }, b: { type: 'number', max: 5 } }
    const steps: TransformStep[] = [
      { rename: { from: 'a', to: 'c' } },
      { derive: { field: 'b', type: 'number', expression: '1.0' } },
    ]
    expect(judged({ a: 9, b: 9 }, steps, { fields })).toMatchObject({ flagged: ['c'] })
  })

  test('refuses a number that is no longer finite, and says which step made it', () => {
    const steps: TransformStep[] = [
      { drop: { field: 'b' } },
      { scale: { field: 'a', factor: 1e300, offset: 0 } },
    ]
    expect(judged({ a: 1e300, timestamp: '2026-01-01T00:00:00Z' }, steps)).toEqual({
      accepted: false,
      reason: 'transform_failed',
      message: 'step 1 of the transform (scale): a is no longer a finite number',
      details: [
        { path: 'processing.transform.1.scale', message: 'a is no longer a finite number' },
      ],
      timestampUs: Date.UTC(2026, 0, 1) * 1000,
    })
  })

  test('renames there and back without a trace', () => {
    const value = fc.double({ noNaN: true, noDefaultInfinity: true })
    const steps: TransformStep[] = [
      { rename: { from: 'a', to: 'constructor' } },
      { rename: { from: 'constructor', to: 'a' } },
    ]
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(stored({ a, b }, steps)).toEqual(stored({ a, b }, []))
      }),
    )
  })

  test('scales there and back but for rounding', () => {
    const size = fc.double({ min: 1e-6, max: 1e6, noNaN: true })
    fc.assert(
      fc.property(size, size, size, (a, factor, offset) => {
        const steps: TransformStep[] = [
          { scale: { field: 'a', factor, offset } },
          { scale: { field: 'a', factor: 1 / factor, offset: -offset / factor } },
        ]
        const { a: again } = stored({ a }, steps) as { a: number }
        expect(Math.abs(again - a)).toBeLessThan(1e-9 * (a + offset / factor))
      }),
    )
  })
})

describe('a filter', () => {
  test('lets through what it is true for', () => {
    expect(stored({ a: 5 }, [filter('a > 4')])).toEqual({ a: 5 })
  })

  test('keeps out what it is false for, with its time and identity', () => {
    const plain = judged({ a: 3 }, [])
    expect(judged({ a: 3 }, [filter('a > 4')])).toEqual({
      accepted: true,
      isFiltered: true,
      timestampUs: receipt.receivedAtUs,
      digest: 'digest' in plain ? plain.digest : '',
    })
  })

  test('keeps the steps behind it from being run', () => {
    const steps = [filter('a > 4'), derive('1 / 0')]
    expect(judged({ a: 3 }, steps)).toMatchObject({ isFiltered: true })
  })

  test('sees what the steps before it have made', () => {
    const scale: TransformStep = { scale: { field: 'a', factor: 10, offset: 0 } }
    expect(stored({ a: 1 }, [scale, filter('a > 4')])).toEqual({ a: 10 })
  })

  test('that is neither true nor false is a failure', () => {
    expect(judged({ a: 3 }, [filter('a')])).toMatchObject({
      reason: 'transform_failed',
      message: expect.stringContaining('not true or false') as string,
    })
  })
})

describe('a derived field', () => {
  test.each([
    ['a * b', 6],
    ['a * 2', 6],
    ['7 - a', 4],
    ['a / 2', 1.5],
    ['math.sqrt(a * a + 16)', 5],
    ['math.round(2.5) + math.round(-2.5)', 0],
    ['math.greatest(a, b) - math.least(a, b)', 1],
    ['math.pow(2, 10)', 1024],
    ['math.abs(-3) + math.floor(1.5) + math.ceil(1.5)', 6],
    ['a > 2.5 ? 1 : 0', 1],
    ['[a, b, 4.0].filter(x, x > 2.5).size()', 2],
  ])('%s is a number', (expression, result) => {
    expect(stored({ a: 3, b: 2 }, [derive(expression)])).toMatchObject({ result })
  })

  test.each([
    ['integer', 'n % 4', 3],
    ['integer', 'n / 2', 3],
    ['integer', '6.0', 6],
    ['boolean', 'on && n > 5', true],
    ['string', 'name + "!"', 'pump!'],
    ['string', 'name.matches("^p[a-z]+$") ? "yes" : "no"', 'yes'],
    ['string', 'place.floor', 'third'],
    ['number', 'size(list)', 3],
    ['number', 'list[1]', 20],
    ['boolean', '20.0 in list && !list.exists(x, x > 30)', true],
    ['boolean', 'has(place.floor) && !has(place.room)', true],
    ['datetime', 'timestamp(due) + duration("90s")', '2026-01-31T10:01:30.000000Z'],
    ['datetime', 'due', '2026-01-31T10:00:00.000000Z'],
    ['number', 'timestamp(due).getDayOfWeek()', 6],
    ['string', 'timestamp', '2026-03-01T00:00:00.000000Z'],
  ] as const)('of the type %s: %s', (type, expression, result) => {
    const fields: FieldMap = {
      n: { type: 'integer' },
      on: { type: 'boolean' },
      name: { type: 'string' },
      due: { type: 'datetime' },
      list: { type: 'array', items: { type: 'number' } },
      place: { type: 'object' },
    }
    const reading = {
      n: 7,
      on: true,
      name: 'pump',
      due: '2026-01-31T11:00:00+01:00',
      list: [10, 20, 30],
      place: { floor: 'third' },
    }
    expect(stored(reading, [derive(expression, type)], fields)).toMatchObject({ result })
  })

  test('is absent when the expression is null', () => {
    expect(stored({ a: 1 }, [derive('b == null ? null : b')])).toEqual({ a: 1 })
  })

  test('takes the place of a field of that name', () => {
    const step: TransformStep = { derive: { field: 'a', type: 'string', expression: '"x"' } }
    expect(stored({ a: 1 }, [step])).toEqual({ a: 'x' })
  })

  test.each([
    ['a field that is absent', 'number', 'b * 2.0'],
    ['a division of integers by zero', 'number', '1 / 0'],
    ['a number that is not finite', 'number', 'a / 0.0'],
    ['no number at all', 'number', '0.0 / 0.0'],
    ['the wrong type', 'number', '"text"'],
    ['a fraction for an integer', 'integer', 'a + 0.5'],
    ['an integer beyond 2^53', 'number', '9007199254740993'],
    ['an integer beyond 64 bits', 'number', '9223372036854775807 + 1'],
    ['a place behind the end of a list', 'number', '[1][5]'],
    ['U+0000', 'string', '"\\u0000"'],
    ['no time', 'datetime', '"yesterday"'],
    ['a list', 'string', '["a"]'],
  ] as const)('quarantines %s', (_, type, expression) => {
    expect(judged({ a: 1 }, [derive(expression, type)])).toMatchObject({
      accepted: false,
      reason: 'transform_failed',
      details: [{ path: 'processing.transform.0.derive' }],
    })
  })
})
