import type { AlertRule } from '../../processors/alert-rules.ts'
import { isObject } from '../contracts/definitions/field-map.ts'
import { Problems } from '../contracts/definitions/problems.ts'
import type { FieldMap, FieldType } from '../contracts/stream-schema.ts'
import { DomainError, type ErrorDetail } from '../core/errors.ts'
import { type AlertRuleId, parseId, type UserId, type VaultId } from '../core/ids.ts'
import { parseAlertRule } from '../streams/data-streams/alert-rule.ts'
import { parseName } from '../streams/data-streams/definition.ts'
import { parseTags, type Tags } from '../streams/data-streams/tags.ts'

/** Rules of fleets that one user can have: each is looked at for each stream that changes. */
export const fleetRulesMax = 100

/** A rule of all streams of a vault, or with some tags, or both: those that are there, and those to come. */
export interface FleetRule extends FleetRuleContent {
  readonly id: AlertRuleId
  readonly ownerId: UserId
  readonly createdAtUs: number
  readonly updatedAtUs: number
  readonly revision: number
}

export interface FleetRuleContent {
  readonly name: string
  readonly vaultId: VaultId | undefined
  /** A stream has to have all of them. */
  readonly tags: Tags
  /** As it was given, without an id. */
  readonly rule: Json
}

type Json = Readonly<Record<string, unknown>>

const keys = ['name', 'vaultId', 'tags', 'rule'] as const

/**
 * Reads what somebody wants a rule to be.
 *
 * @throws DomainError `invalid_request` naming all that is wrong
 */
export function parseFleetRule(value: unknown): FleetRuleContent {
  const found: ErrorDetail[] = []
  const given = isObject(value) ? value : {}
  const problems = new Problems('', found)
  problems.refuseUnknown(given, keys)
  const name = parseName(given['name'], found)
  const tags = parseTags(given['tags'] ?? undefined, found)
  const vaultId = parseVaultId(given['vaultId'] ?? undefined, problems)
  if (given['vaultId'] == null && Object.keys(tags).length === 0) {
    problems.add('', 'needs a vaultId, tags, or both: the streams that it is for')
  }
  const rule = parseRule(given['rule'], problems.within('rule'))
  if (found.length > 0) {
    throw new DomainError('invalid_request', 'the alert rule is not valid', { details: found })
  }
  return { name, vaultId, tags, rule }
}

/** What a change makes of a rule: what is not sent stays, and null takes away. */
export function changedFleetRule(before: FleetRule, change: unknown): FleetRuleContent {
  const { name, vaultId, tags, rule } = before
  if (!isObject(change)) return parseFleetRule(change)
  return parseFleetRule({ name, vaultId, tags, rule, ...change })
}

/**
 * The beginning of ids of rules of fleets on their streams: a stream's own rules can have no such
 * ids.
 */
const fleetPrefix = 'fleet:'

/** The id of a rule of many streams, on each of them. */
export function ruleIdOnStreams(id: AlertRuleId): string {
  return `${fleetPrefix}${id}`
}

/** Whether a rule of a stream is one of many streams. */
export function isFleetRuleId(ruleId: string): boolean {
  return ruleId.startsWith(fleetPrefix)
}

/** The rule as a stream with these fields would have it, or why it cannot. */
export function ruleOnStream(
  { id, rule: given }: Pick<FleetRule, 'id' | 'rule'>,
  fields: FieldMap,
): { readonly rule: AlertRule; readonly problem?: never } | { readonly problem: string } {
  const { field } = given
  // Said here: the definition's own problem would list all the fields that there are.
  if (typeof field === 'string' && !Object.hasOwn(fields, field)) {
    return { problem: `there is no field ${field}` }
  }
  const found: ErrorDetail[] = []
  const rule = parseAlertRule(given, { fields, problems: new Problems('', found) })
  if (rule) return { rule: { ...rule, id: ruleIdOnStreams(id) } }
  const [{ path, message } = { path: '', message: '' }] = found
  return { problem: `${path} ${message}`.trim() }
}

function parseVaultId(value: unknown, problems: Problems): VaultId | undefined {
  if (value === undefined) return undefined
  const id = typeof value === 'string' ? parseId<VaultId>(value) : undefined
  if (id === undefined) problems.add('vaultId', 'must be the id of a vault')
  return id
}

/** No stream is asked yet: the rule is checked for one that has what it is about. */
function parseRule(value: unknown, problems: Problems): Json {
  if (!isObject(value)) {
    problems.add('', 'must be a rule')
    return {}
  }
  if (value['id'] !== undefined) problems.add('id', 'is given by the service')
  parseAlertRule(value, { fields: assumedFields(value), problems })
  return value
}

/** Fields that would suit a rule: the one that it names, and whatever its condition speaks of. */
function assumedFields({ field, threshold, condition }: Json): FieldMap {
  const types: Readonly<Record<string, FieldType>> = { string: 'string', boolean: 'boolean' }
  const type = types[typeof threshold] ?? 'number'
  const names = typeof condition === 'string' ? (condition.match(/[A-Za-z_]\w*/g) ?? []) : []
  const all = typeof field === 'string' ? [field, ...names] : names
  return Object.fromEntries(all.map((name) => [name, { type }]))
}
