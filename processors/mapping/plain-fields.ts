import type { MessageContext } from '../../src/contracts/mapping.ts'
import type { FieldDefinition, StreamSchema } from '../../src/contracts/stream-schema.ts'
import { canonicalNumber, compareText } from '../../src/core/canonical-json.ts'
import { formatUs, parseInstant } from '../../src/core/time.ts'
import { type FieldPlan, firstAt, hasOthers, type PlannedField } from './fields.ts'
import { type Item, isObject } from './item.ts'

/**
 * The canonical text of the fields of an item, all of which are plain and fit the schema. It answers nothing as soon as
 * anything is not so, and has refused nothing by that.
 */
export type PlainReader = (item: Item, context: MessageContext) => string | undefined

/** The canonical text of a value that fits its field; nothing where it does not. */
type PlainText = (value: unknown) => string | undefined

interface PlainField {
  readonly planned: PlannedField
  readonly isRequired: boolean
  readonly textOf: PlainText
  /** The text before its value in the canonical text, as the first and as a later member. */
  readonly first: string
  readonly next: string
}

/** Undefined for a schema with other fields than plain ones. */
export function plainReaderOf(plan: FieldPlan, schema: StreamSchema): PlainReader | undefined {
  if (schema.events !== undefined) return undefined
  const fields: PlainField[] = []
  for (const planned of plan.fields.toSorted((a, b) => compareText(a.name, b.name))) {
    const field = schema.fields[planned.name] as FieldDefinition
    const textOf = plainTextOf(field)
    if (textOf === undefined) return undefined
    const key = `${JSON.stringify(planned.name)}:`
    const isRequired = field.required === true
    fields.push({ planned, isRequired, textOf, first: `{${key}`, next: `,${key}` })
  }
  return (item, context) => {
    const { value } = item
    if (!isObject(value) || hasOthers(value, plan)) return undefined
    let text = ''
    for (const { planned, isRequired, textOf, first, next } of fields) {
      const found = valueOf(item, planned, context)
      if (found !== undefined) {
        const own = textOf(found)
        if (own === undefined) return undefined
        text += (text === '' ? first : next) + own
      } else if (isRequired) return undefined
    }
    return text === '' ? '{}' : `${text}}`
  }
}

function valueOf(item: Item, { find, read }: PlannedField, context: MessageContext): unknown {
  const raw = firstAt(item, find, context)
  return raw === undefined || read === undefined ? raw : read(raw)
}

function plainTextOf({ type, min, max, enum: values }: FieldDefinition): PlainText | undefined {
  const text = textOfType(type, { min, max })
  if (text === undefined || values === undefined) return text
  const allowed = new Set(
    values.map((value) =>
      typeof value === 'number' ? canonicalNumber(value) : JSON.stringify(value),
    ),
  )
  return (value) => {
    const own = text(value)
    return own !== undefined && allowed.has(own) ? own : undefined
  }
}

function textOfType(
  type: FieldDefinition['type'],
  {
    min = Number.NEGATIVE_INFINITY,
    max = Number.POSITIVE_INFINITY,
  }: { readonly min: number | undefined; readonly max: number | undefined },
): PlainText | undefined {
  const isWithin = (value: number) => Number.isFinite(value) && value >= min && value <= max
  switch (type) {
    case 'number':
      return (value) =>
        typeof value === 'number' && isWithin(value) ? canonicalNumber(value) : undefined
    case 'integer':
      return (value) =>
        Number.isSafeInteger(value) && isWithin(value as number)
          ? canonicalNumber(value as number)
          : undefined
    case 'boolean':
      return (value) => (typeof value === 'boolean' ? String(value) : undefined)
    case 'string':
      return (value) => (typeof value === 'string' ? JSON.stringify(value) : undefined)
    case 'datetime':
      return textOfInstant
    case 'object':
    case 'array':
      return undefined
    default:
      return type satisfies never
  }
}

function textOfInstant(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const instantUs = parseInstant(value)
  return typeof instantUs === 'object' ? undefined : `"${formatUs(instantUs)}"`
}
