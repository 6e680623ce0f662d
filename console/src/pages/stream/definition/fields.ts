import { isJson } from '../../../editor/definition.ts'

type Json = Readonly<Record<string, unknown>>

export const fieldTypes = [
  'number',
  'integer',
  'boolean',
  'string',
  'datetime',
  'object',
  'array',
] as const

/** Levels that are shown: as many as a schema may have. */
const levelsMax = 8

/** One field of a schema, also one within another. */
export interface FieldRow {
  /** Where its definition stands in the schema: names with `fields` and `items` between them. */
  readonly keys: readonly string[]
  /** As people write it: `place.floor`, `samples[]`. */
  readonly name: string
  readonly definition: Json
}

/** All fields of a schema, each behind the one that it is in. */
export function rowsOf(schema: Json): readonly FieldRow[] {
  const rows: FieldRow[] = []
  const add = (keys: readonly string[], name: string, definition: unknown) => {
    if (!isJson(definition) || keys.length > 2 * levelsMax) return
    rows.push({ keys, name, definition })
    const { fields, items } = definition
    if (isJson(fields)) {
      for (const [inner, one] of Object.entries(fields))
        add([...keys, 'fields', inner], `${name}.${inner}`, one)
    }
    if (items !== undefined) add([...keys, 'items'], `${name}[]`, items)
  }
  for (const [name, definition] of Object.entries(schema)) add([name], name, definition)
  return rows
}

/** A field with another definition. */
export function withField(schema: Json, keys: readonly string[], definition: Json): Json {
  const [first = '', ...rest] = keys
  if (rest.length === 0) return { ...schema, [first]: definition }
  const inner = schema[first]
  return { ...schema, [first]: withField(isJson(inner) ? inner : {}, rest, definition) }
}

/** Without a field, and what is in it. */
export function withoutField(schema: Json, keys: readonly string[]): Json {
  const [first = '', ...rest] = keys
  if (rest.length === 0) {
    return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== first))
  }
  const inner = schema[first]
  return isJson(inner) ? { ...schema, [first]: withoutField(inner, rest) } : schema
}

/** What a table changes of a field; undefined takes it away. */
export interface FieldChange {
  readonly type?: string
  readonly unit?: string | undefined
  readonly required?: boolean
  readonly min?: number | undefined
  readonly max?: number | undefined
}

/** A definition of a field after a change: what makes no sense for its type is left out. */
export function changedField(definition: Json, change: FieldChange): Json {
  const { range, ...rest } = definition
  const bounds = boundsOf({ range, ...rest })
  const all: Record<string, unknown> = { ...rest, ...bounds, ...change }
  const { type } = all
  if (all['required'] !== true) delete all['required']
  if (all['unit'] === '') delete all['unit']
  if (type !== 'number' && type !== 'integer') for (const key of ['min', 'max']) delete all[key]
  if (type !== 'object') delete all['fields']
  if (type !== 'array') delete all['items']
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** A schema in which a field of this name has another type; one that has no such field stays. */
export function withType(schema: Json, name: string, type: string): Json {
  const row = rowsOf(schema).find((one) => one.name === name)
  if (row === undefined) return schema
  return withField(schema, row.keys, changedField(row.definition, { type }))
}

/** The range of a field, whichever way it is written. */
export function boundsOf({ range, min, max }: Json): {
  readonly min?: unknown
  readonly max?: unknown
} {
  const [low, high] = Array.isArray(range)
    ? (range as unknown[])
    : isJson(range)
      ? [range['min'], range['max']]
      : []
  const bounds = { min: min ?? low, max: max ?? high }
  return Object.fromEntries(Object.entries(bounds).filter(([, one]) => one !== undefined))
}

/** What stands for a field in what it is made from: its path, or several. */
export function fromText({ from }: Json): string {
  if (Array.isArray(from)) return from.join(', ')
  return typeof from === 'string' ? from : ''
}
