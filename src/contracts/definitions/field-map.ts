import type { ErrorDetail } from '../../core/errors.ts'
import { meantBy, soughtHint, spellingHint, unknownNameHint } from '../../core/suggestions.ts'
import { parsePath } from '../path.ts'
import type { FieldDefinition, FieldMap, FieldType } from '../stream-schema.ts'
import { valueKeys, valuesOfField } from './field-values.ts'

/** Limits of a schema (decisions.md#definitions). */
const depthMax = 8
export const fieldsMax = 256

/** An enumeration stands in every message about it, so it has to stay short. */
const enumValuesMax = 256
const textLengthMax = 256

const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/

/** Names that answers and stores use for themselves; `__proto__` is no plain property of objects. */
const reservedNames: readonly string[] = ['timestamp', 'streamid', 'count', 'extra', '__proto__']

const fieldTypes: readonly FieldType[] = [
  'number',
  'integer',
  'boolean',
  'string',
  'datetime',
  'object',
  'array',
]

const knownKeys: readonly string[] = [
  'type',
  'unit',
  'required',
  'range',
  'min',
  'max',
  'enum',
  'fields',
  'items',
  'from',
  ...valueKeys,
]

type Json = Readonly<Record<string, unknown>>

interface Walk {
  readonly problems: ErrorDetail[]
  fields: number
}

/** Reads a stream's field map; what is wrong with it is added to the problems. */
export function parseFieldMap(value: unknown, path: string, problems: ErrorDetail[]): FieldMap {
  const walk = { problems, fields: 0 }
  const fields = fieldMap(value, path, { walk, depth: 1 })
  if (walk.fields > fieldsMax) {
    problems.push({ path, message: `has more than ${fieldsMax} fields` })
  }
  return fields
}

interface Place {
  readonly walk: Walk
  readonly depth: number
}

function fieldMap(value: unknown, path: string, place: Place): FieldMap {
  const { walk, depth } = place
  const fields: Record<string, FieldDefinition> = {}
  if (!isObject(value) || Object.keys(value).length === 0) {
    walk.problems.push({ path, message: 'must be an object of at least one field' })
    return fields
  }
  if (depth > depthMax) {
    walk.problems.push({ path, message: `is nested deeper than ${depthMax} levels` })
    return fields
  }
  const seen = new Set<string>()
  for (const [name, definition] of Object.entries(value)) {
    walk.fields++
    const problem = nameProblem(name, seen, depth)
    seen.add(name.toLowerCase())
    if (problem !== undefined) walk.problems.push({ path: `${path}.${name}`, message: problem })
    else fields[name] = fieldDefinition(definition, `${path}.${name}`, place)
  }
  return fields
}

/** The problem of the name of a field, beside those that are there already (in lower case). */
export function fieldNameProblem(name: string, taken: ReadonlySet<string>): string | undefined {
  return nameProblem(name, taken, 1)
}

/** The problem of the name of a field, if there is one. Seen are lower-case names at its place. */
export function nameProblem(
  name: string,
  seen: ReadonlySet<string>,
  depth: number,
): string | undefined {
  const folded = name.toLowerCase()
  if (!namePattern.test(name)) {
    return 'must be letters, digits and _, not begin with a digit, and have at most 63 characters'
  }
  if (folded === '__proto__' || (depth === 1 && reservedNames.includes(folded))) {
    return 'is a reserved name'
  }
  return seen.has(folded) ? 'differs from another field only in upper and lower case' : undefined
}

/** How a type is written that stands where its object should. */
function typedHint(value: unknown, path: string): string | undefined {
  const type = typeof value === 'string' ? meantBy(value, fieldTypes) : undefined
  return type === undefined ? undefined : `Write {"type": "${type}"} as ${path}.`
}

function fieldDefinition(value: unknown, path: string, place: Place): FieldDefinition {
  const { problems } = place.walk
  if (!isObject(value)) {
    const hint = soughtHint(problems, () => typedHint(value, path))
    problems.push({ path, message: 'must be an object with a type', hint })
    return { type: 'string' }
  }
  for (const key of Object.keys(value)) {
    if (knownKeys.includes(key)) continue
    const hint = soughtHint(problems, () => unknownNameHint(key, knownKeys))
    problems.push({ path: `${path}.${key}`, message: 'is not known', hint })
  }
  const type = fieldTypes.find((known) => known === value['type'])
  if (type === undefined) {
    const message = `must be one of ${fieldTypes.join(', ')}`
    const hint = soughtHint(problems, () => spellingHint(value['type'], fieldTypes))
    problems.push({ path: `${path}.type`, message, hint })
    return { type: 'string' }
  }
  const { unit, required } = value
  if (unit !== undefined && !isShortText(unit)) {
    problems.push({
      path: `${path}.unit`,
      message: `must be a text of at most ${textLengthMax} characters`,
    })
  }
  if (required !== undefined && typeof required !== 'boolean') {
    problems.push({ path: `${path}.required`, message: 'must be true or false' })
  }
  return {
    type,
    ...(typeof unit === 'string' && { unit }),
    ...(required === true && { required }),
    ...bounds(value, type, { path, problems }),
    ...enumeration(value, type, { path, problems }),
    ...members(value, type, { path, place }),
    ...origin(value, { path, place }),
    ...valuesOfField(value, type, { path, problems }),
  }
}

/** Paths of one field, of which the first that leads somewhere counts. */
const pathsMax = 8

/** Where its value stands: what is wrong with a path is added to the problems. */
function origin(
  { from }: Json,
  { path, place }: { readonly path: string; readonly place: Place },
): { from?: string | readonly string[] } {
  const { problems } = place.walk
  if (from === undefined) return {}
  if (place.depth > 1) {
    problems.push({ path: `${path}.from`, message: 'belongs to fields of the reading itself only' })
    return {}
  }
  const paths: readonly unknown[] = Array.isArray(from) ? from : [from]
  if (paths.length === 0 || paths.length > pathsMax) {
    problems.push({ path: `${path}.from`, message: `must be 1 to ${pathsMax} paths` })
    return {}
  }
  for (const [index, text] of paths.entries()) {
    const parsed = typeof text === 'string' ? parsePath(text) : { problem: 'must be a path' }
    if (!('problem' in parsed)) continue
    const at = Array.isArray(from) ? `${path}.from.${index}` : `${path}.from`
    problems.push({ path: at, message: parsed.problem })
  }
  return { from: from as string | readonly string[] }
}

interface Report {
  readonly path: string
  readonly problems: ErrorDetail[]
}

/** `range` is [min, max] or {min, max}; `min` and `max` may also stand alone. All inclusive. */
function bounds(
  value: Json,
  type: FieldType,
  { path, problems }: Report,
): { min?: number; max?: number } {
  const { range, min, max } = value
  if (range === undefined && min === undefined && max === undefined) return {}
  if (type !== 'number' && type !== 'integer') {
    problems.push({ path, message: `a range makes no sense for ${type}` })
    return {}
  }
  const wide = Array.isArray(range) ? { min: range[0], max: range[1] } : (range ?? {})
  if (!isObject(wide) || (Array.isArray(range) && range.length !== 2)) {
    problems.push({ path: `${path}.range`, message: 'must be [min, max]' })
    return {}
  }
  for (const key of Object.keys(wide)) {
    if (key === 'min' || key === 'max') continue
    problems.push({ path: `${path}.range.${key}`, message: 'is not known' })
  }
  const low = min ?? wide['min'] ?? undefined
  const high = max ?? wide['max'] ?? undefined
  if (!isBound(low) || !isBound(high)) {
    problems.push({ path: `${path}.range`, message: 'must have finite numbers as bounds' })
    return {}
  }
  if (low !== undefined && high !== undefined && low > high) {
    problems.push({ path: `${path}.range`, message: 'has its bounds the wrong way round' })
  }
  return { ...(low !== undefined && { min: low }), ...(high !== undefined && { max: high }) }
}

/** Every value but a long text. */
function isShort(value: unknown): boolean {
  return typeof value !== 'string' || isShortText(value)
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= textLengthMax
}

function isBound(value: unknown): value is number | undefined {
  return value === undefined || (typeof value === 'number' && Number.isFinite(value))
}

function enumeration(
  value: Json,
  type: FieldType,
  { path, problems }: Report,
): { enum?: readonly (string | number | boolean)[] } {
  const values = value['enum']
  if (values === undefined) return {}
  const expected = type === 'number' || type === 'integer' ? 'number' : type
  const isScalar = expected === 'number' || expected === 'string' || expected === 'boolean'
  const fits = (item: unknown) => isScalar && typeof item === expected && isShort(item)
  if (!Array.isArray(values) || values.length === 0 || !values.every(fits)) {
    problems.push({ path: `${path}.enum`, message: `must be a list of values of type ${type}` })
    return {}
  }
  if (values.length > enumValuesMax) {
    problems.push({ path: `${path}.enum`, message: `has more than ${enumValuesMax} values` })
    return {}
  }
  return { enum: [...new Set(values as (string | number | boolean)[])] }
}

function members(
  value: Json,
  type: FieldType,
  { path, place }: { readonly path: string; readonly place: Place },
): { fields?: FieldMap; items?: FieldDefinition } {
  const { problems } = place.walk
  const deeper = { walk: place.walk, depth: place.depth + 1 }
  const { fields, items } = value
  if (fields !== undefined && type !== 'object') {
    problems.push({ path: `${path}.fields`, message: 'belongs to the type object only' })
  }
  if (items !== undefined && type !== 'array') {
    problems.push({ path: `${path}.items`, message: 'belongs to the type array only' })
  }
  if (type === 'object' && fields !== undefined) {
    return { fields: fieldMap(fields, `${path}.fields`, deeper) }
  }
  if (type === 'array' && items !== undefined) {
    if (deeper.depth > depthMax) {
      problems.push({ path: `${path}.items`, message: `is nested deeper than ${depthMax} levels` })
      return {}
    }
    return { items: fieldDefinition(items, `${path}.items`, deeper) }
  }
  return {}
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
