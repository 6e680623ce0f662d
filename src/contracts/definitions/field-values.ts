import type { ErrorDetail } from '../../core/errors.ts'
import type { MissingValue, ValueRules } from '../mapping.ts'
import type { FieldDefinition, FieldType } from '../stream-schema.ts'

/** Values that stand for none, of one stream or field. */
export const missingMax = 100

/** Characters of one of them. */
export const missingLengthMax = 256

/** The keys of a field that say what its values mean. */
export const valueKeys = ['missing', 'texts', 'decimal'] as const

/** Characters that decimals may stand behind. */
export const decimalMarks = ['.', ','] as const satisfies readonly ValueRules['decimal'][]

type Json = Readonly<Record<string, unknown>>

/** What is wrong with a list of values that stand for none, if anything is. */
export function missingProblem(value: unknown): string | undefined {
  const listed: readonly unknown[] = Array.isArray(value) ? value : []
  if (listed.length === 0 || listed.length > missingMax) {
    return `must be an array of 1 to ${missingMax} values`
  }
  if (listed.every(isMissingValue)) return undefined
  return `must have null, texts of at most ${missingLengthMax} characters, numbers, true and false only`
}

function isMissingValue(value: unknown): value is MissingValue {
  if (typeof value === 'string') return value.length <= missingLengthMax
  return value === null || typeof value === 'boolean' || Number.isFinite(value)
}

/** What a field says of its values; what is wrong with it is added to the problems. */
export function valuesOfField(
  { missing, texts, decimal, fields, items }: Json,
  type: FieldType,
  { path, problems }: { readonly path: string; readonly problems: ErrorDetail[] },
): Pick<FieldDefinition, 'missing' | 'texts' | 'decimal'> {
  const refuse = (key: string, message: string) => {
    problems.push({ path: `${path}.${key}`, message })
  }
  const problem = missing === undefined ? undefined : missingProblem(missing)
  if (problem !== undefined) refuse('missing', problem)
  const hasParts =
    (type === 'object' && fields !== undefined) || (type === 'array' && items !== undefined)
  const isNumber = type === 'number' || type === 'integer'
  if (texts !== undefined) {
    if (texts !== 'typed' && texts !== 'as-sent') refuse('texts', 'must be typed or as-sent')
    else if (!hasParts && ['datetime', 'object', 'array'].includes(type)) {
      refuse('texts', `has no effect on ${type}`)
    }
  }
  if (decimal !== undefined) {
    if (!decimalMarks.some((mark) => mark === decimal)) refuse('decimal', 'must be . or ,')
    else if (!hasParts && !isNumber) refuse('decimal', `has no effect on ${type}`)
  }
  return {
    ...(missing !== undefined && problem === undefined && { missing: missing as MissingValue[] }),
    ...((texts === 'typed' || texts === 'as-sent') && { texts }),
    ...((decimal === '.' || decimal === ',') && { decimal }),
  }
}
