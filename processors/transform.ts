import type { Allowance } from '../src/contracts/reading.ts'
import type { FieldMap } from '../src/contracts/stream-schema.ts'
import {
  type DefinedStep,
  type DerivedType,
  fieldsAfter,
  type Line,
  type TransformStep,
} from '../src/contracts/transform-step.ts'
import { canonicalJson } from '../src/core/canonical-json.ts'
import { isRoundedInteger } from '../src/core/json-safety.ts'
import { LruMap } from '../src/core/lru-map.ts'
import { formatUs, type InstantUs, isWritableInstant, parseInstant } from '../src/core/time.ts'
import { compileExpression, type Evaluated, type Expression } from './expression.ts'
import { microsecondsOf } from './expression-functions.ts'
import { ExpressionProblem } from './expression-tree.ts'

/** What a step has made of a reading, where that is not just other values. */
export type StepOutcome =
  | undefined
  | { readonly isFiltered: true }
  | { readonly isFiltered: false; readonly problem: string }

/** One step, ready to be run: it changes the values in place. Pure in all else. */
export type RunStep = (
  values: Record<string, unknown>,
  timestampUs: number,
  allowance?: Allowance,
) => StepOutcome

/** Thrown for a step that cannot be run, whatever the reading. */
export class StepProblem extends Error {
  /** The part of the step that is wrong, such as `derive.expression`. */
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

const compiled = new LruMap<string, readonly RunStep[]>(1_000)

/** All steps, ready to be run; shared by all streams with the same fields and steps. */
export function stepsOf(fields: FieldMap, steps: readonly TransformStep[]): readonly RunStep[] {
  const key = canonicalJson([fields, steps])
  const known = compiled.get(key)
  if (known) return known
  const made = steps.map((step, index) =>
    compileStep(step, fieldsAfter(fields, steps.slice(0, index))),
  )
  compiled.set(key, made)
  return made
}

/**
 * One step, for readings that have these fields when it is their turn.
 *
 * @throws StepProblem when its expression is no good
 */
export function compileStep(step: TransformStep, fields: FieldMap): RunStep {
  if ('rename' in step) return renaming(step.rename.from, step.rename.to)
  if ('drop' in step) {
    return (values) => {
      delete values[step.drop.field]
      return undefined
    }
  }
  if ('scale' in step) {
    const { field, factor, offset } = step.scale
    return changing(field, (value) => value * factor + offset)
  }
  if ('convert' in step) {
    const { field, line } = step.convert
    return changing(field, converting(line))
  }
  if ('filter' in step) return filtering(expressionOf('filter', step.filter.expression, fields))
  const { field, type, expression } = step.derive
  return deriving(field, type, expressionOf('derive', expression, fields))
}

/**
 * Whether a step can be run, whatever its units.
 *
 * @throws StepProblem when its expression is no good
 */
export function checkStep(step: DefinedStep, fields: FieldMap): void {
  if (!('convert' in step)) compileStep(step, fields)
}

function expressionOf(kind: 'derive' | 'filter', text: string, fields: FieldMap): Expression {
  try {
    return compileExpression(text, fields)
  } catch (error) {
    if (!(error instanceof ExpressionProblem)) throw error
    throw new StepProblem(`${kind}.expression`, error.message)
  }
}

function renaming(from: string, to: string): RunStep {
  return (values) => {
    if (from in values) {
      values[to] = values[from]
      delete values[from]
    }
    return undefined
  }
}

function converting({ start, factor, isDivided, offset }: Line): (value: number) => number {
  return isDivided
    ? (value) => (value - start) / factor + offset
    : (value) => (value - start) * factor + offset
}

function changing(field: string, change: (value: number) => number): RunStep {
  return (values) => {
    const value = values[field]
    if (value === undefined) return undefined
    const changed = change(value as number)
    if (!Number.isFinite(changed)) return failed(`${field} is no longer a finite number`)
    values[field] = changed
    return undefined
  }
}

function filtering(expression: Expression): RunStep {
  return (values, timestampUs, allowance) => {
    const result = expression(values, () => formatUs(timestampUs), allowance)
    if (result.problem !== undefined) return failed(result.problem)
    if (typeof result.value !== 'boolean') return failed('the expression is not true or false')
    return result.value ? undefined : filtered
  }
}

function deriving(field: string, type: DerivedType, expression: Expression): RunStep {
  return (values, timestampUs, allowance) => {
    const result = expression(values, () => formatUs(timestampUs), allowance)
    if (result.problem !== undefined) return failed(result.problem)
    if (result.value === null) {
      delete values[field]
      return undefined
    }
    const value = valueOf(result.value, type)
    if (value === undefined) return failed(`the expression is not of the type ${type}`)
    values[field] = value
    return undefined
  }
}

/** 2^53: fields of integers hold no more, as beyond it a double cannot tell neighbours apart. */
const integerMax = 2 ** 53

/** The result of an expression as a value of a field, or nothing when it is none of that type. */
function valueOf(
  result: NonNullable<Evaluated & { readonly problem?: never }>['value'],
  type: DerivedType,
): unknown {
  switch (type) {
    case 'number':
    case 'integer': {
      if (typeof result !== 'number' && typeof result !== 'bigint') return undefined
      if (typeof result === 'bigint' && isRoundedInteger(String(result))) return undefined
      const value = Number(result)
      if (type === 'number') return finite(value)
      return Number.isInteger(value) && Math.abs(value) <= integerMax ? value : undefined
    }
    case 'boolean':
      return typeof result === 'boolean' ? result : undefined
    case 'string': {
      const isText = typeof result === 'string' && result.isWellFormed() && !result.includes('\0')
      return isText ? result : undefined
    }
    case 'datetime':
      return instantOf(result)
    default:
      return type satisfies never
  }
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined
}

/** A text in RFC 3339, or a timestamp of the language. */
function instantOf(result: unknown): string | undefined {
  const isTimestamp = typeof result === 'object' && result !== null && 'message' in result
  const instantUs = isTimestamp ? microsecondsOf(result) : textInstant(result)
  const isWritable = instantUs !== undefined && isWritableInstant(instantUs)
  return isWritable ? formatUs(instantUs) : undefined
}

function textInstant(text: unknown): InstantUs | undefined {
  const instantUs = typeof text === 'string' ? parseInstant(text) : undefined
  return typeof instantUs === 'object' ? undefined : instantUs
}

const filtered: StepOutcome = { isFiltered: true }

function failed(problem: string): StepOutcome {
  return { isFiltered: false, problem }
}
