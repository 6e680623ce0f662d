import { needsValueReader, rulesWithin } from '../../../processors/values.ts'
import {
  decimalMarks,
  missingLengthMax,
  missingMax,
  missingProblem,
} from '../../contracts/definitions/field-values.ts'
import { type Fields, newField, oneOf } from '../../contracts/definitions/fields.ts'
import { type Json, Problems, type Rule } from '../../contracts/definitions/problems.ts'
import type { MissingValue, ValueRules } from '../../contracts/mapping.ts'
import type { FieldDefinition, FieldMap } from '../../contracts/stream-schema.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { eventTypesOf } from './event-types.ts'

const missing: Rule = (value, key, problems) => {
  const problem = missingProblem(value)
  if (problem !== undefined) problems.add(key, problem)
}

/** JSON Schema of a list of values that stand for none. */
export const missingSchema = {
  type: 'array',
  minItems: 1,
  maxItems: missingMax,
  items: { type: ['string', 'number', 'boolean', 'null'], maxLength: missingLengthMax },
}

/** The keys of a source that say what values mean. */
export const valueFields = {
  missing: {
    ...newField<readonly MissingValue[]>(missing, missingSchema),
    doc: '[values that stand for none](payload-formats.md#what-a-value-means), in any field',
  },
  texts: {
    ...oneOf('typed', 'as-sent'),
    default: 'as-sent',
    doc: '`typed`: [texts are read by the types of their fields](payload-formats.md#texts-that-are-read-by-type)',
  },
  decimal: {
    ...oneOf(...decimalMarks),
    default: '.',
    doc: 'of typed texts: what stands before the decimals of a number',
  },
} satisfies Fields

/** What a source that was checked says of all values, if anything. */
export function valueRulesOf({ missing: values, texts, decimal }: Json): ValueRules | undefined {
  const rules: ValueRules = {
    ...(values !== undefined && { missing: values as readonly MissingValue[] }),
    ...(texts === 'typed' && { texts }),
    ...(decimal !== undefined && { decimal: decimal as '.' | ',' }),
  }
  return Object.keys(rules).length === 0 ? undefined : rules
}

/** Refuses what would have no effect on any field, as far as each key is sound by itself. */
export function checkValues(source: Json, schema: FieldMap, found: ErrorDetail[]): void {
  // What is wrong with the source has been said, and may be about these keys.
  if (found.some(({ path }) => path.startsWith('source'))) return
  const problems = new Problems('source', found)
  const rules = valueRulesOf(source) ?? {}
  if (rules.texts === 'typed' && !needsValueReader(schema, { texts: 'typed' })) {
    problems.add('texts', 'has no effect: no field has a type that texts are read by')
  }
  const readsNumbers = Object.values(schema).some((field) => readsNumber(field, rules))
  if (rules.decimal !== undefined && !readsNumbers) problems.add('decimal', noNumbers)
  const events = eventTypesOf(source)
  if (events === undefined) checkFields(schema, rules, new Problems('schema', found))
  for (const [name, fields] of Object.entries(events?.types ?? {})) {
    checkFields(fields, rules, problems.within('eventTypes').within(name))
  }
}

const noNumbers = 'has no effect: it is for numbers that are read from texts (texts: typed)'

function checkFields(fields: FieldMap, rules: ValueRules, problems: Problems): void {
  for (const [name, field] of Object.entries(fields))
    checkField(field, rules, problems.within(name))
}

function checkField(field: FieldDefinition, rules: ValueRules, problems: Problems): void {
  if (field.decimal !== undefined && !readsNumber(field, rules)) problems.add('decimal', noNumbers)
  const inner = rulesWithin(field, rules)
  if (field.items !== undefined) checkField(field.items, inner, problems.within('items'))
  if (field.fields !== undefined) checkFields(field.fields, inner, problems.within('fields'))
}

/** Whether texts become numbers in a field, or in what is within it. */
function readsNumber(field: FieldDefinition, rules: ValueRules): boolean {
  const own = rulesWithin(field, rules)
  if (field.type === 'number' || field.type === 'integer') return own.texts === 'typed'
  const within = field.items === undefined ? Object.values(field.fields ?? {}) : [field.items]
  return within.some((one) => readsNumber(one, own))
}
