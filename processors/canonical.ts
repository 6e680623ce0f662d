import type { FieldDefinition, FieldMap, StreamSchema } from '../src/contracts/stream-schema.ts'
import { timeMemberOf } from '../src/contracts/time-member.ts'
import { canonicalJson, canonicalNumber, compareText } from '../src/core/canonical-json.ts'
import { LruMap } from '../src/core/lru-map.ts'
import { formatUs, parseInstant } from '../src/core/time.ts'

/** A reading's fields as canonical text: what its identity is computed from, and what is stored. */
export interface CanonicalReading {
  /** The declared fields. */
  readonly values: string
  /** The other fields, or an empty text when there are none. */
  readonly extra: string
  /** All fields together, whatever the schema calls them: a later schema leaves identity alone. */
  readonly all: string
}

/** Turns a valid reading into canonical text. */
export type Canonicaliser = (reading: Readonly<Record<string, unknown>>) => CanonicalReading

/** Deepest nesting of a reading. */
const depthMax = 32

const canonicalisers = new LruMap<string, Canonicaliser>(1_000)

/** The canonicaliser of a schema shape; one for all streams that share it. */
export function canonicaliserOf(schema: StreamSchema): Canonicaliser {
  const key = canonicalJson([schema.fields, timeMemberOf(schema) ?? null])
  const known = canonicalisers.get(key)
  if (known) return known
  const compiled = compile(schema)
  canonicalisers.set(key, compiled)
  return compiled
}

function compile(schema: StreamSchema): Canonicaliser {
  const { fields } = schema
  /** Where the time of a reading is said: it is no field, unless it is declared. */
  const time = timeMemberOf(schema)
  const isUndeclared = time !== undefined && !Object.hasOwn(fields, time)
  const plan = Object.keys(fields)
    .sort(compareText)
    .map((name) => ({
      name,
      field: fields[name] as FieldDefinition,
      first: `{"${name}":`,
      next: `,"${name}":`,
    }))

  return (reading) => {
    let values = ''
    let declared = 0
    for (const { name, field, first, next } of plan) {
      if (!Object.hasOwn(reading, name)) continue
      values += (declared === 0 ? first : next) + canonicalField(reading[name], field)
      declared++
    }
    const timestamped = isUndeclared && Object.hasOwn(reading, time) ? 1 : 0
    values = declared === 0 ? '{}' : `${values}}`
    if (countMembers(reading) === declared + timestamped) {
      return { values, extra: '', all: values }
    }
    const unknown = Object.entries(reading).filter(
      ([name]) => name !== time && !Object.hasOwn(fields, name),
    )
    const known = Object.entries(reading).filter(([name]) => Object.hasOwn(fields, name))
    return {
      values,
      extra: canonicalMembers(unknown, fields),
      all: canonicalMembers([...known, ...unknown], fields),
    }
  }
}

function canonicalField(value: unknown, field: FieldDefinition): string {
  switch (field.type) {
    case 'number':
    case 'integer':
      return canonicalNumber(value as number)
    case 'boolean':
      return value === true ? 'true' : 'false'
    case 'datetime':
      return canonicalInstant(value as string)
    case 'object':
      return canonicalMembers(Object.entries(value as object), field.fields ?? {})
    case 'array': {
      const { items } = field
      if (items === undefined) return canonicalJson(value)
      return `[${(value as unknown[]).map((item) => canonicalField(item, items)).join(',')}]`
    }
    case 'string':
      return JSON.stringify(value)
    default:
      return field.type satisfies never
  }
}

function canonicalMembers(entries: readonly [string, unknown][], fields: FieldMap): string {
  const members = entries
    .toSorted(([left], [right]) => compareText(left, right))
    .map(([name, value]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      const text = field === undefined ? canonicalJson(value) : canonicalField(value, field)
      return `${JSON.stringify(name)}:${text}`
    })
  return `{${members.join(',')}}`
}

/** One instant spelled in two ways is one value. */
function canonicalInstant(text: string): string {
  const instantUs = parseInstant(text)
  return typeof instantUs === 'object' ? JSON.stringify(text) : `"${formatUs(instantUs)}"`
}

function countMembers(value: object): number {
  let count = 0
  for (const _ in value) count++
  return count
}

/** What keeps a reading from being written down again as JSON, or nothing. */
export function unwritable(reading: object): string | undefined {
  return problemWithin(reading, depthMax)
}

function problemWithin(value: object, levels: number): string | undefined {
  if (levels === 0) return `nested deeper than ${depthMax} levels`
  // for-in makes no list of what it visits; what JSON.parse made inherits nothing enumerable.
  for (const name in value) {
    // Never meant well, and a trap for whoever reads it back.
    if (name === '__proto__') return '__proto__ is not a name of a field'
    const member = (value as Readonly<Record<string, unknown>>)[name]
    if (typeof member === 'number') {
      // Binary formats have such numbers, and JSON.parse reads 1e400 as one: JSON cannot write them.
      if (!Number.isFinite(member))
        return 'NaN, Infinity and what a double cannot hold are no values'
    } else if (typeof member === 'object' && member !== null) {
      const problem = problemWithin(member, levels - 1)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}
