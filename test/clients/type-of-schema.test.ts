import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Json, typeOf } from '../../scripts/client/type-of-schema.ts'
import { typeErrorsIn } from '../support/type-errors.ts'

/** A schema, a value that fits it, and where there is one, another that is of no type of it. */
interface Sample {
  readonly schema: Json
  readonly value: unknown
  readonly other: unknown
}

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 })

const plain: fc.Arbitrary<Sample> = fc.oneof(
  fc.string().map((value) => ({ schema: { type: 'string' }, value, other: 1 })),
  fc.integer().map((value) => ({ schema: { type: 'integer' }, value, other: 'text' })),
  fc.boolean().map((value) => ({ schema: { type: 'boolean' }, value, other: null })),
  fc.constant({ schema: { type: ['number', 'null'] }, value: null, other: true }),
  name.map((value) => ({ schema: { const: value }, value, other: `${value}!` })),
  fc.uniqueArray(name, { minLength: 1 }).map((values) => ({
    schema: { enum: [...values, null] },
    value: values[0],
    other: values.join('') + values[0],
  })),
)

/** Samples of schemas that have others within. */
function within(inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  return fc.oneof(
    fc.array(inner, { minLength: 1, maxLength: 1 }).map(([item]) => ({
      schema: { type: 'array', items: item?.schema },
      value: [item?.value, item?.value],
      other: [item?.other],
    })),
    inner.map(({ schema, value, other }) => ({
      schema: { type: 'object', additionalProperties: schema },
      value: { some: value },
      other: { some: other },
    })),
    fc.tuple(name, inner, fc.boolean()).map(([key, { schema, value, other }, isRequired]) => ({
      schema: {
        type: 'object',
        properties: { [key]: schema },
        ...(isRequired && { required: [key] }),
      },
      value: { [key]: value },
      other: { [key]: other },
    })),
    inner.map(({ schema, value, other }) => ({
      schema: { title: 'with a title', allOf: [schema] },
      value,
      other,
    })),
    inner.map(({ schema, value, other }) => ({
      schema: { oneOf: [schema, { const: 'instead of it' }] },
      value,
      other,
    })),
  )
}

const samples = fc.sample(fc.oneof(plain, within(plain), within(within(plain))), {
  numRuns: 400,
  seed: 17,
})

test('a value that fits a schema is of its type', () => {
  const lines = samples.map(
    ({ schema, value }) => `void (${JSON.stringify(value)} satisfies ${typeOf(schema)})`,
  )

  expect(typeErrorsIn(lines.join('\n'))).toEqual([])
})

test('a value of another type is not', () => {
  const lines = samples.map(
    ({ schema, other }) =>
      `// @ts-expect-error\nvoid (${JSON.stringify(other)} satisfies ${typeOf(schema)})`,
  )

  expect(typeErrorsIn(lines.join('\n'))).toEqual([])
})

test('a value may have members that an open object does not declare', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'number' } },
    additionalProperties: true,
  }

  expect(typeErrorsIn(`export const value: ${typeOf(schema)} = { a: 1, b: 'text' }`)).toEqual([])
})

test('what a text says in a comment does not end the comment', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'number', description: 'Every */5 minutes.\n\nOr: later.' } },
  }

  expect(typeErrorsIn(`export const value: ${typeOf(schema)} = { a: 1 }`)).toEqual([])
})
