import type { AlertRule } from '../../../processors/alert-rules.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import {
  check,
  fieldOf,
  finite,
  type Json,
  Problems,
} from '../../contracts/definitions/problems.ts'
import type { FieldMap } from '../../contracts/stream-schema.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { type AlertContext, commonOf, commonRules, parseAlertRule } from './alert-rule.ts'

/** Rules of one stream: each of them is run on each of its readings. */
export const rulesMax = 50

/** The two keys of `processing` that rules may stand in; they are taken together. */
const ruleKeys = ['alertThresholds', 'alerting'] as const

/** A rule, and where it stands in the definition. */
interface PlacedRule {
  readonly rule: AlertRule
  readonly path: string
}

/** The rules of a definition that was checked. */
export function alertRulesOf(processing: Json, fields: FieldMap): readonly AlertRule[] {
  return parseAlertRules(processing, fields, [])
}

/**
 * Reads the rules of `processing`; what is wrong with them is added to the problems.
 *
 * @param fields those that are stored, after the transform
 */
export function parseAlertRules(
  processing: Json,
  fields: FieldMap,
  found: ErrorDetail[],
): readonly AlertRule[] {
  const placed = ruleKeys.flatMap((key) => {
    const problems = new Problems(`processing.${key}`, found)
    return parseRules(processing[key] ?? false, { fields, problems })
  })
  return checkedTogether(placed, found)
}

/**
 * Reads rules that stand by themselves, in the place of both keys; what is wrong with them is added
 * to the problems.
 */
export function parseProposedRules(
  value: unknown,
  { fields, path }: { readonly fields: FieldMap; readonly path: string },
  found: ErrorDetail[],
): readonly AlertRule[] {
  return checkedTogether(parseRules(value, { fields, problems: new Problems(path, found) }), found)
}

function checkedTogether(
  placed: readonly PlacedRule[],
  found: ErrorDetail[],
): readonly AlertRule[] {
  if (placed.length > rulesMax) {
    const [{ path } = { path: '' }] = placed.slice(rulesMax)
    found.push({ path, message: `is one more than the ${rulesMax} alert rules of a stream` })
  }
  refuseSameIds(placed, found)
  return placed.map(({ rule }) => rule)
}

/** A list of rules, or rules by the fields that they are about; none where false says so. */
function parseRules(value: unknown, context: AlertContext): readonly PlacedRule[] {
  if (value === false) return []
  if (Array.isArray(value)) return parseList(value, context)
  const { fields, problems } = context
  if (!isObject(value)) {
    problems.add('', 'must be a list of rules, or for each field {min, max} or a list of rules')
    return []
  }
  return Object.entries(value).flatMap(([field, given]) => {
    const before = problems.found.length
    fieldOf(fields)(field, field, problems)
    if (problems.found.length > before) return []
    const within = { fields, field, problems: problems.within(field) }
    return Array.isArray(given) ? parseList(given, within) : parseBounds(given, within)
  })
}

function parseList(list: readonly unknown[], context: AlertContext): readonly PlacedRule[] {
  // One more than there may be shows that there are too many.
  return list.slice(0, rulesMax + 1).flatMap((given, index) => {
    const problems = context.problems.within(String(index))
    const rule = parseAlertRule(given, { ...context, problems })
    return rule === undefined ? [] : [{ rule, path: problems.path }]
  })
}

/** `{min, max}` is short for two rules: below the one, and above the other. */
function parseBounds(given: unknown, context: AlertContext): readonly PlacedRule[] {
  const { fields, field = '', problems } = context
  const before = problems.found.length
  if (!isObject(given) || (given['min'] === undefined && given['max'] === undefined)) {
    problems.add('', 'must be an object with min, max or both, or a list of rules')
    return []
  }
  check(given, { rules: { min: finite, max: finite, ...commonRules } }, problems)
  const type = fields[field]?.type
  if (type !== 'number' && type !== 'integer') {
    problems.add('', `has min or max, and is not a number but of the type ${type}`)
  }
  const { min, max } = given
  if (typeof min === 'number' && typeof max === 'number' && min > max) {
    problems.add('min', 'must not be above max')
  }
  if (problems.found.length > before) return []
  const common = commonOf(given)
  const { path } = problems
  const placed: PlacedRule[] = []
  if (typeof min === 'number') {
    const id = `${field}.min`
    placed.push({ path, rule: { ...common, id, field, operator: '<', threshold: min } })
  }
  if (typeof max === 'number') {
    const id = `${field}.max`
    placed.push({ path, rule: { ...common, id, field, operator: '>', threshold: max } })
  }
  return placed
}

function refuseSameIds(placed: readonly PlacedRule[], found: ErrorDetail[]): void {
  const places = new Map<string, string>()
  for (const { rule, path } of placed) {
    const place = places.get(rule.id)
    if (place === undefined) places.set(rule.id, path)
    else found.push({ path: `${path}.id`, message: `is ${rule.id}, the same as that of ${place}` })
  }
}
