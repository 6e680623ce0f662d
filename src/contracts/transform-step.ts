import type { FieldDefinition, FieldMap, FieldType } from './stream-schema.ts'

/**
 * Contract: what becomes of a reading between its check and the store, step by step
 * (decisions.md#transforms-of-a-reading).
 */
export type TransformStep = Step<ConversionStep>

/** A step as a definition has it: units are names there. */
export type DefinedStep = Step<Conversion>

type Step<Convert extends Conversion> =
  | { readonly rename: { readonly from: string; readonly to: string } }
  | { readonly convert: Convert }
  | { readonly scale: Scaling }
  | { readonly derive: Derivation }
  | { readonly filter: { readonly expression: string } }
  | { readonly drop: { readonly field: string } }

/** Units of measurement by their names. */
export interface Conversion {
  readonly field: string
  readonly from: string
  readonly to: string
}

/** With what the names of its units mean, so that to run it is to reckon and nothing else. */
export interface ConversionStep extends Conversion {
  readonly line: Line
}

/**
 * All conversions are linear: (value - start) * factor + offset, or with / in place of *. In one of these
 * forms the numbers are short, and doubles hold them.
 */
export interface Line {
  readonly start: number
  readonly factor: number
  readonly isDivided: boolean
  readonly offset: number
}

/** value * factor + offset */
export interface Scaling {
  readonly field: string
  readonly factor: number
  readonly offset: number
}

export interface Derivation {
  readonly field: string
  readonly type: DerivedType
  readonly unit?: string
  readonly expression: string
}

export const derivedTypes = ['number', 'integer', 'boolean', 'string', 'datetime'] as const

/** Types that an expression can result in. */
export type DerivedType = (typeof derivedTypes)[number] & FieldType

/**
 * The fields after the steps: those that are stored. `schema` of a definition describes the reading as
 * it is sent, and bounds hold for what was sent: what a step has changed has none.
 */
export function fieldsAfter(fields: FieldMap, steps: readonly DefinedStep[]): FieldMap {
  return steps.reduce(fieldsAfterStep, fields)
}

function fieldsAfterStep(fields: FieldMap, step: DefinedStep): FieldMap {
  if ('rename' in step) {
    const { [step.rename.from]: renamed, ...rest } = fields
    return renamed === undefined ? rest : { ...rest, [step.rename.to]: renamed }
  }
  if ('drop' in step) {
    const { [step.drop.field]: _, ...rest } = fields
    return rest
  }
  if ('convert' in step) return changed(fields, step.convert.field, { unit: step.convert.to })
  if ('scale' in step) return changed(fields, step.scale.field, {})
  if ('derive' in step) {
    const { field, type, unit } = step.derive
    return { ...fields, [field]: { type, ...(unit !== undefined && { unit }) } }
  }
  return fields
}

function changed(fields: FieldMap, name: string, rest: Omit<FieldDefinition, 'type'>): FieldMap {
  return { ...fields, [name]: { type: 'number', ...rest } }
}
