import {
  type AlertFunction,
  type AlertRule,
  compileAlertRules,
  type Operator,
  operators,
  type Scalar,
  type Severity,
  severities,
  windowFunctions,
} from '../../../processors/alert-rules.ts'
import { ExpressionProblem } from '../../../processors/expression-tree.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import {
  check,
  fieldOf,
  finite,
  type Json,
  oneOf,
  type Problems,
  type Rule,
  type Rules,
  text,
} from '../../contracts/definitions/problems.ts'
import type { FieldMap, FieldType } from '../../contracts/stream-schema.ts'
import { durationUs } from '../../core/duration.ts'
import { unknownNameHint } from '../../core/suggestions.ts'

/** Where a rule stands, and what it may be about. */
export interface AlertContext {
  readonly fields: FieldMap
  readonly problems: Problems
  /** The field under whose name it stands, if it stands under one. */
  readonly field?: string
}

/** A threshold that is a text. */
const textLengthMax = 256

const idPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/

const dayUs = 86_400_000_000

/** Longer than anybody waits to be told. */
const daysMax = 366

const ruleDuration: Rule = (value, key, problems) => {
  const us = durationUs(value)
  if (us !== undefined && us <= daysMax * dayUs) return
  problems.add(key, `must be a duration from 1s to ${daysMax}d, such as 30s, 1m, 6h or 1d`)
}

/** Keys that rules of all kinds have, but for silence, which is a duration itself. */
export const commonRules = {
  severity: oneOf(...severities),
  for: ruleDuration,
  clearFor: ruleDuration,
} as const satisfies Rules

/** That part of a rule, read. */
export function commonOf(given: Json): Pick<AlertRule, 'severity' | 'forUs' | 'clearForUs'> {
  return {
    severity: (given['severity'] as Severity | undefined) ?? 'warning',
    forUs: durationUs(given['for']) ?? 0,
    clearForUs: durationUs(given['clearFor']) ?? 0,
  }
}

/** Reads one rule; nothing if anything is wrong with it, which is added to the problems. */
export function parseAlertRule(given: unknown, context: AlertContext): AlertRule | undefined {
  const { problems } = context
  const before = problems.found.length
  if (!isObject(given)) {
    problems.add('', 'must be an object')
    return undefined
  }
  const kind = kindOf(given)
  const { keys, required } = kinds[kind]
  const rules = allRules(context.fields)
  for (const key of Object.keys(given)) {
    if (!Object.hasOwn(rules, key)) {
      problems.add(key, 'is not known', () => unknownNameHint(key, Object.keys(rules)))
    } else if (!keys.includes(key)) problems.add(key, `does not go with ${kind}`)
  }
  const own = Object.entries(given).filter(([key]) => keys.includes(key))
  check(Object.fromEntries(own), { rules, required }, problems)
  const field = context.field ?? (given['field'] as string | undefined)
  if (context.field !== undefined && (given['field'] ?? field) !== field) {
    problems.add('field', `must be ${field}, under which it stands, or be left out`)
  }
  if (problems.found.length > before) return undefined
  const rule = ruleOf({ ...given, ...(field !== undefined && kind !== 'condition' && { field }) })
  checkMeaning(rule, context)
  return problems.found.length > before ? undefined : rule
}

interface Kind {
  readonly keys: readonly string[]
  readonly required: readonly string[]
}

/** What a rule is recognised by, and what may stand beside it. */
const kinds: Readonly<Record<'silentFor' | 'condition' | 'threshold', Kind>> = {
  silentFor: { keys: words('id severity field silentFor clearFor'), required: [] },
  condition: { keys: words('id severity condition for clearFor'), required: [] },
  threshold: {
    keys: words('id severity field operator threshold clearThreshold for clearFor function window'),
    required: ['operator', 'threshold'],
  },
}

function words(list: string): readonly string[] {
  return list.split(' ')
}

function kindOf(given: Json): keyof typeof kinds {
  if (given['silentFor'] !== undefined) return 'silentFor'
  return given['condition'] === undefined ? 'threshold' : 'condition'
}

function allRules(fields: FieldMap): Rules {
  return {
    ...commonRules,
    id: ruleId,
    field: fieldOf(fields),
    operator: oneOf(...operators),
    threshold: scalar,
    clearThreshold: finite,
    function: oneOf(...windowFunctions, 'rate'),
    window: ruleDuration,
    silentFor: ruleDuration,
    condition: text,
  }
}

function ruleOf(given: Json): AlertRule {
  const { field, operator, threshold, clearThreshold, condition } = given
  const windowUs = durationUs(given['window'])
  const silentForUs = durationUs(given['silentFor'])
  const rule = {
    ...commonOf(given),
    ...(field !== undefined && { field: field as string }),
    ...(operator !== undefined && { operator: operator as Operator }),
    ...(threshold !== undefined && { threshold: threshold as Scalar }),
    ...(clearThreshold !== undefined && { clearThreshold: clearThreshold as number }),
    ...(given['function'] !== undefined && { function: given['function'] as AlertFunction }),
    ...(windowUs !== undefined && { windowUs }),
    ...(silentForUs !== undefined && { silentForUs }),
    ...(condition !== undefined && { condition: condition as string }),
  }
  return { ...rule, id: (given['id'] as string | undefined) ?? idOf(given) }
}

const operatorNames: Readonly<Record<Operator, string>> = {
  '>': 'above',
  '>=': 'atLeast',
  '<': 'below',
  '<=': 'atMost',
  '==': 'equals',
  '!=': 'differs',
}

/** For a rule without one: what it is about, so that its id stays when others come or go. */
function idOf(given: Json): string {
  if (given['condition'] !== undefined) return 'condition'
  const { field, window } = given as Readonly<Record<string, string>>
  const { function: name, operator } = given as Partial<AlertRule>
  const compared = operator === undefined ? 'silent' : operatorNames[operator]
  return [field, name, window, compared].filter((part) => part !== undefined).join('.')
}

/** Finds parts that are right one by one, and do not fit together. */
function checkMeaning(rule: AlertRule, { fields, problems }: AlertContext): void {
  if (rule.condition !== undefined) {
    checkCondition(rule, fields, problems)
    return
  }
  if (rule.operator === undefined) return
  checkFunction(rule, fields, problems)
  const type = comparedType(rule, fields)
  if (type === undefined) return
  const isNumeric = type === 'number' || type === 'integer'
  if (!isNumeric && type !== 'string' && type !== 'boolean') {
    problems.add('field', `is of the type ${type}, which cannot be compared`)
    return
  }
  const isEquality = rule.operator === '==' || rule.operator === '!='
  if (!isNumeric && !isEquality) {
    problems.add('operator', `must be == or != for what is of the type ${type}`)
  }
  const expected = isNumeric ? 'number' : type
  if (typeof rule.threshold !== expected) {
    problems.add('threshold', `must be of the type ${expected}, as what it is compared with`)
  } else checkClearThreshold(rule, isEquality, problems)
}

/** A function needs a field of numbers, unless it takes what is there; and most need a window. */
function checkFunction(rule: AlertRule, fields: FieldMap, problems: Problems): void {
  const { function: name, field, windowUs } = rule
  if (name === undefined || name === 'rate') {
    if (windowUs !== undefined) {
      problems.add('window', name === undefined ? 'needs a function' : 'does not go with rate')
    }
  } else if (windowUs === undefined) problems.add('window', `is required for ${name}`)
  if (field === undefined) {
    if (name !== 'count') problems.add('field', 'is required')
    return
  }
  const type = fields[field]?.type
  const takesAll = name === undefined || takers.includes(name)
  if (!takesAll && type !== 'number' && type !== 'integer') {
    problems.add('function', `takes numbers, and ${field} is of the type ${type}`)
  }
}

const takers: readonly AlertFunction[] = ['count', 'first', 'last']

/** The type of what is compared; nothing where there is no field to compare. */
function comparedType(rule: AlertRule, fields: FieldMap): FieldType | undefined {
  const { function: name, field } = rule
  const isOfField = name === undefined || name === 'first' || name === 'last'
  if (!isOfField) return 'number'
  return field === undefined ? undefined : fields[field]?.type
}

/** An alert ends on the side of the threshold where it has not begun. */
function checkClearThreshold(rule: AlertRule, isEquality: boolean, problems: Problems): void {
  const { operator, threshold, clearThreshold } = rule
  if (clearThreshold === undefined) return
  if (isEquality) problems.add('clearThreshold', `does not go with ${operator}`)
  else if (typeof threshold === 'number') {
    const isUpper = operator === '>' || operator === '>='
    const isWrong = isUpper ? clearThreshold > threshold : clearThreshold < threshold
    const side = isUpper ? 'above' : 'below'
    if (isWrong) problems.add('clearThreshold', `must not be ${side} the threshold ${threshold}`)
  }
}

function checkCondition(rule: AlertRule, fields: FieldMap, problems: Problems): void {
  try {
    compileAlertRules([rule], fields)
  } catch (error) {
    if (!(error instanceof ExpressionProblem)) throw error
    problems.add('condition', error.message)
  }
}

const ruleId: Rule = (value, key, problems) => {
  if (typeof value === 'string' && idPattern.test(value)) return
  problems.add(
    key,
    'must be 1 to 128 letters, digits, _, . or -, and begin with none of the last two',
  )
}

const scalar: Rule = (value, key, problems) => {
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return
  if (typeof value === 'string' && value.length <= textLengthMax) return
  problems.add(
    key,
    `must be a number, true, false or a text of at most ${textLengthMax} characters`,
  )
}
