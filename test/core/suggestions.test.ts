import { describe, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { hintedMax, meantBy } from '../../src/core/suggestions.ts'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'

describe('a request that is wrong in many places', () => {
  const unknown = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`treshold${index}`, 1]),
  )

  test.each([
    ['a definition', unknown],
    ['processing', { processing: unknown }],
    ['a field', { schema: { a: { type: 'number', ...unknown } } }],
    [
      'types of fields',
      { schema: Object.fromEntries(Object.keys(unknown).map((name) => [name, 'nmber'])) },
    ],
  ])('looks for few hints: %s', (_, body) => {
    const hinted = detailsOf(body).filter(({ hint }) => hint !== undefined)

    expect(hinted.length).toBeGreaterThan(2)
    expect(hinted.length).toBeLessThanOrEqual(hintedMax + 2)
  })
})

test('a long text is not compared with names', () => {
  const long = 'number'.repeat(1_000)

  expect(meantBy(long, [long.toUpperCase()])).toBeUndefined()
})

function detailsOf(body: object) {
  try {
    parseDefinition(body)
  } catch (error) {
    if (error instanceof DomainError) return error.details ?? []
    throw error
  }
  throw new Error('the definition is accepted')
}
