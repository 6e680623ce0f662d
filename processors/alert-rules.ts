import type { Allowance } from '../src/contracts/reading.ts'
import type { FieldMap } from '../src/contracts/stream-schema.ts'
import { parseJson } from '../src/core/parse-json.ts'
import { formatUs } from '../src/core/time.ts'
import { compileExpression, type Values } from './expression.ts'

export const severities = ['info', 'warning', 'critical'] as const

export type Severity = (typeof severities)[number]

export const operators = ['>', '>=', '<', '<=', '==', '!='] as const

export type Operator = (typeof operators)[number]

/** Functions of the readings of a window. */
export const windowFunctions = [
  'avg',
  'min',
  'max',
  'sum',
  'count',
  'first',
  'last',
  'range',
  'stddev',
] as const

export type WindowFunction = (typeof windowFunctions)[number]

/** With the change between one reading and the next, per second. */
export type AlertFunction = WindowFunction | 'rate'

/** Values that a rule can compare. */
export type Scalar = number | string | boolean

/**
 * When somebody is to be told about a stream: a comparison of a field, or of what a function says
 * of it; silence; or a condition in CEL. Which of the three follows from what it has:
 * `silentForUs`, `condition`, or else `operator` and `threshold`. Plain data, checked before;
 * durations are in microseconds.
 */
export interface AlertRule {
  readonly id: string
  readonly severity: Severity
  /** Not needed for a count of readings, a silence or a condition. */
  readonly field?: string
  readonly operator?: Operator
  readonly threshold?: Scalar
  /**
   * The threshold that has to be reached again before the alert ends: hysteresis. `threshold`, if
   * not given.
   */
  readonly clearThreshold?: number
  /** How long it has to hold before the alert begins; 0: at once. */
  readonly forUs: number
  /** How long it has to be over before the alert ends; 0: at once. */
  readonly clearForUs: number
  readonly function?: AlertFunction
  /** Length of the windows that a function other than `rate` is computed over, aligned to the epoch. */
  readonly windowUs?: number
  readonly silentForUs?: number
  /** In CEL, over the fields of one reading: true where it is broken. */
  readonly condition?: string
}

export type RuleKind = 'threshold' | 'window' | 'rate' | 'silence' | 'condition'

/** A rule that is ready to be run. */
export interface CompiledRule extends AlertRule {
  readonly kind: RuleKind
  /** Whether the rule is broken by a value. */
  readonly breaks: (value: Scalar) => boolean
  /** Whether a value ends what the rule has begun: between the two thresholds it is neither. */
  readonly clears: (value: Scalar) => boolean
  /** Whether a reading meets the condition of the rule; nothing where that cannot be said. */
  readonly evaluate?: (values: Values, timeUs: number, allowance: Allowance) => boolean | undefined
}

/** The rules of one version of a stream, compiled once. */
export interface CompiledAlertRules {
  readonly rules: readonly CompiledRule[]
  /** Whether a reading that is sent twice would be counted twice, were it not recognised. */
  readonly needsDigest: boolean
  /** The fields that rules look at, out of the canonical JSON of a reading. */
  readonly read: (values: string) => Values
}

/**
 * @param fields those that are stored, after the transform
 * @throws ExpressionProblem for a condition that cannot be compiled
 */
export function compileAlertRules(
  rules: readonly AlertRule[],
  fields: FieldMap,
): CompiledAlertRules {
  const compiled = rules.map((rule) => compileRule(rule, fields))
  const looksAtValues = compiled.some(
    ({ kind, field }) => kind === 'condition' || field !== undefined,
  )
  return {
    rules: compiled,
    needsDigest: compiled.some(({ kind }) => kind === 'window'),
    read: looksAtValues ? (values) => parseJson(values) as Values : () => noValues,
  }
}

const noValues: Values = {}

function compileRule(rule: AlertRule, fields: FieldMap): CompiledRule {
  const { operator, threshold, condition } = rule
  const kind = kindOf(rule)
  if (condition !== undefined) {
    return { ...rule, kind, ...ofTruth, evaluate: evaluationOf(condition, fields) }
  }
  if (operator === undefined || threshold === undefined) return { ...rule, kind, ...ofTruth }
  const breaks = comparisonWith(operator, threshold)
  const staysBroken =
    rule.clearThreshold === undefined ? breaks : comparisonWith(operator, rule.clearThreshold)
  return { ...rule, kind, breaks, clears: (value) => !staysBroken(value) }
}

/** The fields that rules look at, or may look at: any word of a condition may be one. */
export function fieldsOfRules(rules: readonly AlertRule[], fields: FieldMap): readonly string[] {
  const named = rules.flatMap(({ field, condition = '' }) => [
    ...(field === undefined ? [] : [field]),
    ...(condition.match(/[A-Za-z_]\w*/g) ?? []),
  ])
  return [...new Set(named)].filter((name) => Object.hasOwn(fields, name)).sort()
}

function kindOf({ silentForUs, condition, function: name }: AlertRule): RuleKind {
  if (silentForUs !== undefined) return 'silence'
  if (condition !== undefined) return 'condition'
  if (name === undefined) return 'threshold'
  return name === 'rate' ? 'rate' : 'window'
}

/** Judges values that say by themselves whether a rule is broken. */
const ofTruth = {
  breaks: (value: Scalar) => value === true,
  clears: (value: Scalar) => value !== true,
}

function comparisonWith(operator: Operator, bound: Scalar): (value: Scalar) => boolean {
  switch (operator) {
    case '>':
      return (value) => value > bound
    case '>=':
      return (value) => value >= bound
    case '<':
      return (value) => value < bound
    case '<=':
      return (value) => value <= bound
    case '==':
      return (value) => value === bound
    case '!=':
      return (value) => value !== bound
    default:
      return operator satisfies never
  }
}

function evaluationOf(text: string, fields: FieldMap): NonNullable<CompiledRule['evaluate']> {
  const expression = compileExpression(text, fields)
  return (values, timeUs, allowance) => {
    const result = expression(values, () => formatUs(timeUs), allowance)
    if (result.problem !== undefined) return undefined
    return typeof result.value === 'boolean' ? result.value : undefined
  }
}
