import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diagnosticsOf } from '../../../console/src/editor/text-problems.ts'

const text = '{"schema": {"a": {"type": "numbr"}}}'

function marked(path: string): string {
  const [mark] = diagnosticsOf(text, [{ path, message: 'is wrong' }])
  return text.slice(mark?.from, mark?.to)
}

describe('what is wrong with a text', () => {
  test('is marked at its value, or at the bracket of what lacks it', () => {
    expect(marked('schema.a.type')).toBe('"numbr"')
    expect(marked('schema.a.range')).toBe('{')
    expect(marked('name')).toBe('{')
    expect(marked('schema.a.type.unit')).toBe('"')
  })

  test('is its syntax alone, while it is no JSON', () => {
    expect(diagnosticsOf('{"a": }', [{ path: 'a', message: 'is wrong' }])).toEqual([
      { from: 6, to: 7, severity: 'error', message: 'there is "}" where a value should be' },
    ])
  })

  test('is nothing while nothing is typed', () => {
    expect(diagnosticsOf(' \n', [{ path: '', message: 'is wrong' }])).toEqual([])
  })

  test('is always within the text', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (any, path) => {
        for (const { from, to } of diagnosticsOf(any, [{ path, message: 'is wrong' }])) {
          expect(from).toBeGreaterThanOrEqual(0)
          expect(to).toBeGreaterThanOrEqual(from)
          expect(to).toBeLessThanOrEqual(any.length)
        }
      }),
    )
  })
})
