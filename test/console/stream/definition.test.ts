import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  changeBetween,
  clashesOf,
  type Definition,
  readDefinition,
  textOf,
  withChange,
} from '../../../console/src/editor/definition.ts'
import {
  boundsOf,
  changedField,
  rowsOf,
  withField,
  withoutField,
} from '../../../console/src/pages/stream/definition/fields.ts'

/** Nothing in a definition has null as its value. */
const member = fc.oneof(
  fc.integer(),
  fc.constantFrom('x', 'y', true),
  fc.dictionary(fc.constantFrom('p', 'q'), fc.integer(), { noNullPrototype: true }),
)

const names = fc.constantFrom('a', 'b', 'c', 'secrets', '__x')

const part = fc.dictionary(names, member, { noNullPrototype: true, maxKeys: 4 })

const definition: fc.Arbitrary<Definition> = fc.record(
  {
    name: fc.constantFrom('boiler', 'pump'),
    tags: part,
    source: part,
    schema: part,
    processing: part,
  },
  { noNullPrototype: true },
)

describe('a change', () => {
  test('makes one definition of the other, and is none where they say the same', () => {
    fc.assert(
      fc.property(definition, definition, (before, after) => {
        const change = changeBetween(before, after)
        expect(withChange(before, change)).toEqual(after)
        expect(changeBetween(before, before)).toBeUndefined()
      }),
      { numRuns: 1_000 },
    )
  })

  test('names no member that stays', () => {
    fc.assert(
      fc.property(definition, fc.integer(), (before, value) => {
        const schema = { ...before.schema, changed: value }
        expect(changeBetween(before, { ...before, schema })).toEqual({ schema: { changed: value } })
      }),
    )
  })

  test('clashes with another one where both set a member to different things', () => {
    const one = { schema: { a: { type: 'number' }, b: null }, name: 'x' }
    const other = { schema: { a: { type: 'string' }, b: null, c: {} }, name: 'y' }

    expect(clashesOf(one, other)).toEqual(['schema.a', 'name'])
    expect(clashesOf(one, undefined)).toEqual([])
  })

  test('that clashes with no other comes to the same in either order', () => {
    fc.assert(
      fc.property(definition, member, member, (base, here, there) => {
        const schema = { ...base.schema, a: here, b: here }
        const mine = { ...base, name: 'mine', schema }
        const theirs = { ...base, schema: { ...base.schema, c: there }, tags: { t: there } }
        const [one, other] = [changeBetween(base, mine), changeBetween(base, theirs)]
        expect(clashesOf(one, other)).toEqual([])
        const left = withChange(withChange(base, one), other)
        expect(withChange(withChange(base, other), one)).toEqual(left)
      }),
    )
  })
})

describe('a text', () => {
  test('of a definition is read as that definition', () => {
    fc.assert(
      fc.property(definition, (one) => {
        expect(readDefinition(textOf(one))).toEqual({ ok: true, definition: one })
      }),
    )
  })

  test.each([
    ['{', 'ends'],
    ['[]', 'object'],
    ['{"name":"x","vaultId":"y"}', 'vaultId'],
    ['{"name":1}', 'name'],
    ['{"name":"x","schema":[]}', 'schema'],
  ])('%s is none: %s', (text, problem) => {
    expect(readDefinition(text)).toMatchObject({
      ok: false,
      problem: expect.stringContaining(problem) as string,
    })
  })
})

describe('the fields of a schema', () => {
  const schema = {
    a: { type: 'number', range: [0, 5] },
    place: { type: 'object', fields: { floor: { type: 'integer' } } },
    list: { type: 'array', items: { type: 'object', fields: { x: { type: 'number' } } } },
  }

  test('are all of them, under the names that people write', () => {
    expect(rowsOf(schema).map(({ name }) => name)).toEqual([
      'a',
      'place',
      'place.floor',
      'list',
      'list[]',
      'list[].x',
    ])
  })

  test('stay what they are when one is set to itself, and are gone when they are taken away', () => {
    for (const { keys, definition: field } of rowsOf(schema)) {
      expect(withField(schema, keys, field)).toEqual(schema)
      const without = rowsOf(withoutField(schema, keys)).map((row) => row.keys.join(' '))
      expect(without).not.toContain(keys.join(' '))
    }
  })

  test('lose what makes no sense for another type', () => {
    expect(changedField(schema.place, { type: 'string' })).toEqual({ type: 'string' })
    expect(changedField(schema.a, { type: 'boolean', required: true })).toEqual({
      type: 'boolean',
      required: true,
    })
  })

  test('have one range, whichever way it was written', () => {
    expect(boundsOf(schema.a)).toEqual({ min: 0, max: 5 })
    expect(boundsOf({ range: { max: 3 } })).toEqual({ max: 3 })
    expect(changedField(schema.a, { max: undefined })).toEqual({ type: 'number', min: 0 })
  })
})
