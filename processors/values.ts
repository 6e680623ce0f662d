import type { MissingValue, ValueRules } from '../src/contracts/mapping.ts'
import type { FieldDefinition, FieldMap } from '../src/contracts/stream-schema.ts'
import { withoutSpaceAround } from '../src/core/white-space.ts'
import { looseNumber, looseTruth } from './typed-text.ts'

/** What stands at the path of a field, as a value of it. Undefined: the field is absent. Pure. */
export type ValueReader = (raw: unknown) => unknown

/** Whether a stream has to read its values, and cannot take them as they are. */
export function needsValueReader(fields: FieldMap, rules: ValueRules | undefined): boolean {
  return Object.values(fields).some((field) => valueReaderOf(field, rules) !== undefined)
}

/**
 * Reads the values of a field: first those that stand for none are left out, then texts are read by its type. What
 * means nothing by these rules is its own value: the schema then refuses it. Nothing where no rule is about the field.
 */
export function valueReaderOf(
  field: FieldDefinition,
  rules: ValueRules | undefined,
): ValueReader | undefined {
  const own = rulesWithin(field, rules)
  const missing = own.missing === undefined ? undefined : missingTest(own.missing)
  const read = readerOfType(field, own)
  if (missing === undefined) return read
  if (read === undefined) return (raw) => (missing(raw) ? undefined : raw)
  return (raw) => {
    if (missing(raw)) return undefined
    const value = read(raw)
    // A text may be another way to write what stands for none.
    return value !== raw && missing(value) ? undefined : value
  }
}

/** The rules that hold for a field, and for what is within it. */
export function rulesWithin(
  { missing = [], texts, decimal }: FieldDefinition,
  rules: ValueRules = {},
): ValueRules {
  const all = [...(rules.missing ?? []), ...missing]
  const isTyped = (texts ?? rules.texts) === 'typed'
  const mark = decimal ?? rules.decimal
  return {
    ...(all.length > 0 && { missing: all }),
    ...(isTyped && { texts: 'typed' }),
    ...(mark !== undefined && { decimal: mark }),
  }
}

/** Whether texts are read by the type of a field, whichever format they come in. */
export function readsTexts(field: FieldDefinition, rules: ValueRules | undefined): boolean {
  return rulesWithin(field, rules).texts === 'typed'
}

/** Whether values that are no numbers are among those that stand for none: NaN, Infinity or -Infinity. */
export function takesNonFinite(fields: FieldMap, rules: ValueRules | undefined): boolean {
  const all = [rules?.missing ?? [], ...Object.values(fields).flatMap(missingWithin)].flat()
  return all.some((value) => typeof value === 'string' && nonFinite.has(folded(value)))
}

function missingWithin({ missing = [], items, fields = {} }: FieldDefinition): MissingValue[] {
  const inner = items === undefined ? Object.values(fields) : [items]
  return [...missing, ...inner.flatMap(missingWithin)]
}

function readerOfType(field: FieldDefinition, rules: ValueRules): ValueReader | undefined {
  const isTyped = rules.texts === 'typed'
  switch (field.type) {
    case 'number':
    case 'integer': {
      const { decimal = '.' } = rules
      return isTyped ? (raw) => numberOf(raw, decimal) : undefined
    }
    case 'boolean':
      return isTyped ? truthOf : undefined
    case 'string':
      return isTyped ? textOf : undefined
    case 'object':
      return membersReader(field.fields ?? {}, rules)
    case 'array':
      return field.items && elementsReader(field.items, rules)
    case 'datetime':
      return undefined
    default:
      return field.type satisfies never
  }
}

function numberOf(raw: unknown, decimal: '.' | ','): unknown {
  return typeof raw === 'string' ? (looseNumber(raw, decimal) ?? raw) : raw
}

function truthOf(raw: unknown): unknown {
  if (raw === 1 || raw === 0) return raw === 1
  return typeof raw === 'string' ? (looseTruth(raw) ?? raw) : raw
}

function textOf(raw: unknown): unknown {
  return typeof raw === 'boolean' || Number.isFinite(raw) ? String(raw) : raw
}

/** Objects that nothing is changed in stay what they are. */
function membersReader(fields: FieldMap, rules: ValueRules): ValueReader | undefined {
  const readers = Object.entries(fields).flatMap(([name, field]) => {
    const read = valueReaderOf(field, rules)
    return read === undefined ? [] : [{ name, read }]
  })
  if (readers.length === 0) return undefined
  return (raw) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw
    const members = raw as Readonly<Record<string, unknown>>
    let changed: Record<string, unknown> | undefined
    for (const { name, read } of readers) {
      if (!Object.hasOwn(members, name)) continue
      const value = read(members[name])
      if (value === members[name]) continue
      changed ??= { ...members }
      if (value === undefined) delete changed[name]
      else changed[name] = value
    }
    return changed ?? raw
  }
}

/** Elements that stand for none are left out of their list. */
function elementsReader(items: FieldDefinition, rules: ValueRules): ValueReader | undefined {
  const read = valueReaderOf(items, rules)
  if (read === undefined) return undefined
  return (raw) =>
    Array.isArray(raw) ? raw.map(read).filter((element) => element !== undefined) : raw
}

/** What numbers are called that JSON cannot write, in lower case. */
const nonFinite: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['+inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
  ['+infinity', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
])

/** Longer texts stand for something: those of a definition are shorter, but for white space around them. */
const missingLengthMax = 1_000

function missingTest(missing: readonly MissingValue[]): (value: unknown) => boolean {
  const texts = new Set<unknown>()
  const values = new Set<unknown>()
  for (const value of missing) {
    if (typeof value !== 'string') values.add(value)
    else {
      texts.add(folded(value))
      const number = nonFinite.get(folded(value))
      // A set finds NaN, too.
      if (number !== undefined) values.add(number)
    }
  }
  return (value) => {
    if (typeof value !== 'string') return values.has(value)
    return texts.size > 0 && value.length <= missingLengthMax && texts.has(folded(value))
  }
}

function folded(text: string): string {
  return withoutSpaceAround(text).toLowerCase()
}
