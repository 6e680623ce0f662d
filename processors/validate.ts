import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { ValueRules } from '../src/contracts/mapping.ts'
import type { FieldDefinition, FieldMap, StreamSchema } from '../src/contracts/stream-schema.ts'
import { timeMemberOf } from '../src/contracts/time-member.ts'
import { canonicalJson } from '../src/core/canonical-json.ts'
import type { ErrorDetail } from '../src/core/errors.ts'
import { LruMap } from '../src/core/lru-map.ts'
import { parseInstant } from '../src/core/time.ts'
import { roundedProblem } from './typed-text.ts'
import { rulesWithin } from './values.ts'

/** The compiled rules of one schema shape, shared by every stream that has it. */
export interface SchemaValidator {
  /** Everything that forbids the reading, or nothing. */
  problems(reading: object): readonly ErrorDetail[] | undefined
  /** Declared fields whose value a lenient stream keeps although it is out of range. */
  flagged(reading: object): readonly string[]
}

/** Problems that are named of one reading: an array of wrong items would have one for each. */
const detailsMax = 100

/** Elements of one array: every wrong one of them is a problem of its own. */
const arrayItemsMax = 10_000

const noFields: readonly string[] = []

/**
 * Validators by schema text. Compiling costs milliseconds and memory, so a thousand streams of one
 * shape share one validator. The cache holds no decisions, only functions of its keys.
 */
const validators = new LruMap<string, SchemaValidator>(1_000)

export function validatorOf(schema: StreamSchema): SchemaValidator {
  const key = canonicalJson(schema)
  const known = validators.get(key)
  if (known) return known
  const compiled = compile(schema)
  validators.set(key, compiled)
  return compiled
}

function compile(schema: StreamSchema): SchemaValidator {
  const strict = schema.validation === 'strict'
  const rules = objectSchema(schema.fields, { strict, bounds: strict })
  const time = timeMemberOf(schema)
  if (strict && time !== undefined) rules.properties[time] ??= {}
  const check = newAjv(false).compile(rules)
  const explain = lazily(() => newAjv(true).compile(rules))
  const bounds =
    !strict && hasBounds(schema.fields)
      ? newAjv(true).compile(objectSchema(schema.fields, { strict: false, bounds: true }))
      : undefined

  return {
    problems(reading) {
      if (check(reading)) return undefined
      const all = explain()
      all(reading)
      const errors = (all.errors ?? check.errors ?? []).slice(0, detailsMax)
      return errors.map((error) => roundedDetail(error, reading, schema) ?? toDetail(error))
    },
    flagged(reading) {
      if (bounds === undefined || bounds(reading)) return noFields
      const names = (bounds.errors ?? []).map((error) => error.instancePath.split('/')[1] ?? '')
      return [...new Set(names)].filter((name) => name !== '').sort()
    },
  }
}

function newAjv(allErrors: boolean): Ajv {
  return new Ajv({
    allErrors,
    strict: true,
    // A field may be named like what every object inherits, such as `constructor`.
    ownProperties: true,
    validateFormats: true,
    formats: { datetime: (text: string) => typeof parseInstant(text) !== 'object' },
  })
}

function lazily(make: () => ValidateFunction): () => ValidateFunction {
  let made: ValidateFunction | undefined
  return () => {
    made ??= make()
    return made
  }
}

interface Strictness {
  /** Unknown fields are refused. */
  readonly strict: boolean
  /** Ranges and enumerations are part of the rules. */
  readonly bounds: boolean
}

interface ObjectSchema {
  readonly type: 'object'
  readonly properties: Record<string, object>
  readonly required: readonly string[]
  readonly additionalProperties: boolean
}

function objectSchema(fields: FieldMap, strictness: Strictness): ObjectSchema {
  const entries = Object.entries(fields)
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, field]) => [name, fieldSchema(field, strictness)]),
    ),
    required: entries.filter(([, field]) => field.required).map(([name]) => name),
    additionalProperties: !strictness.strict,
  }
}

function fieldSchema(field: FieldDefinition, strictness: Strictness): object {
  const bounds = strictness.bounds ? boundsOf(field) : {}
  switch (field.type) {
    case 'datetime':
      return { type: 'string', format: 'datetime', ...bounds }
    case 'object':
      return objectSchema(field.fields ?? {}, strictness)
    case 'array':
      return field.items === undefined
        ? { type: 'array', maxItems: arrayItemsMax }
        : {
            type: 'array',
            maxItems: arrayItemsMax,
            items: fieldSchema(field.items, strictness),
          }
    case 'integer':
      return { type: 'integer', ...bounds, ...integerBounds(strictness.bounds ? field : {}) }
    case 'number':
    case 'boolean':
    case 'string':
      return { type: field.type, ...bounds }
    default:
      return field.type satisfies never
  }
}

/**
 * Beyond this a double is no exact integer, whichever way it was spelled
 * (decisions.md#numbers-and-texts).
 */
const integerMax = 2 ** 53

/** An integer stays exact in a lenient stream, too. */
function integerBounds(field: Pick<FieldDefinition, 'min' | 'max'>): object {
  const { min = -integerMax, max = integerMax } = field
  return { minimum: Math.max(min, -integerMax), maximum: Math.min(max, integerMax) }
}

function boundsOf(field: FieldDefinition): object {
  return {
    ...(field.min !== undefined && { minimum: field.min }),
    ...(field.max !== undefined && { maximum: field.max }),
    ...(field.enum !== undefined && { enum: field.enum }),
  }
}

function hasBounds(fields: FieldMap): boolean {
  return Object.values(fields).some(
    (field) =>
      Object.keys(boundsOf(field)).length > 0 ||
      hasBounds(field.fields ?? {}) ||
      (field.items !== undefined && hasBounds({ items: field.items })),
  )
}

/** The first values of an enumeration: it stands in every entry that breaks it. */
function listed(values: readonly unknown[]): string {
  const named = JSON.stringify(values.slice(0, valuesNamedMax))
  return values.length > valuesNamedMax ? `${named} and others` : named
}

const valuesNamedMax = 10

/** What is wrong with a text that would be read as a number, were it not rounded by that. */
function roundedDetail(
  { keyword, instancePath }: ErrorObject,
  reading: object,
  schema: StreamSchema,
): ErrorDetail | undefined {
  if (keyword !== 'type') return undefined
  const path = instancePath.slice(1).split('/')
  let value: unknown = reading
  let field: FieldDefinition | undefined = { type: 'object', fields: schema.fields }
  let rules: ValueRules = schema.values ?? {}
  for (const step of path) {
    value = (value as Readonly<Record<string, unknown>>)[step]
    field = field.items ?? field.fields?.[step]
    if (field === undefined) return undefined
    rules = rulesWithin(field, rules)
  }
  const isNumber = field.type === 'number' || field.type === 'integer'
  if (!isNumber || rules.texts !== 'typed' || typeof value !== 'string') return undefined
  const message = roundedProblem(value)
  return message === undefined ? undefined : { path: path.join('.'), message }
}

function toDetail(error: ErrorObject): ErrorDetail {
  const within = error.instancePath.slice(1).split('/').filter(Boolean)
  switch (error.keyword) {
    case 'required':
      return {
        path: [...within, error.params['missingProperty']].join('.'),
        message: 'is required',
      }
    case 'additionalProperties':
      return {
        path: [...within, error.params['additionalProperty']].join('.'),
        message: 'is not a field of this stream',
      }
    case 'format':
      return { path: within.join('.'), message: 'must be an RFC 3339 date-time with a zone' }
    case 'enum':
      return {
        path: within.join('.'),
        message: `must be one of ${listed(error.params['allowedValues'] as readonly unknown[])}`,
      }
    default:
      return { path: within.join('.'), message: error.message ?? 'is not valid' }
  }
}
