import { isObject } from '../../contracts/definitions/field-map.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import { type ParsedDefinition, parseDefinition } from './definition.ts'

type Json = Readonly<Record<string, unknown>>

/** The parts that are merged member by member: the others are replaced. */
const mergedParts = ['tags', 'source', 'schema', 'processing'] as const

/**
 * Keys that a stream is made with, and keeps. They may be sent, as reading the stream answers them.
 */
const fixedKeys = ['vaultId', 'type'] as const

/**
 * A definition after a change (decisions.md#changes-of-a-definition): what is not sent keeps its
 * value. Of `tags`, `source`, `schema` and `processing` each member is kept, replaced as a whole,
 * or, with null, taken away.
 *
 * @throws DomainError as `parseDefinition` does, about the definition as it would be
 */
export function changedDefinition(before: ParsedDefinition, change: unknown): ParsedDefinition {
  if (!isObject(change)) {
    throw invalid([{ path: '', message: 'must be a JSON object' }])
  }
  const { name, vaultId, type } = before
  const fixed: Json = { vaultId, type }
  const problems = fixedKeys
    .filter((key) => change[key] !== undefined && change[key] !== fixed[key])
    .map((key) => ({ path: key, message: 'cannot be changed' }))
  const missing =
    change['schema'] === null ? [{ path: 'schema', message: 'must be an object' }] : []
  if (problems.length + missing.length > 0) throw invalid([...problems, ...missing])
  const merged: Record<string, unknown> = { name, ...change, ...fixed }
  for (const part of mergedParts) merged[part] = mergedPart(before[part], change[part])
  merged['source'] = withMergedSecrets(merged['source'], before.source, change['source'])
  if (isMadeAnew(before, change['schema'], merged['source'])) merged['schema'] = undefined
  return parseDefinition(merged)
}

/** The schema of events follows from their types: that which there was, or was read and sent back, says nothing. */
function isMadeAnew(before: ParsedDefinition, schema: unknown, source: unknown): boolean {
  if (!isObject(source) || source['eventTypes'] === undefined) return false
  return schema === undefined || canonicalJson(schema) === canonicalJson(before.schema)
}

/** Members without value are those of null: nothing in a definition has null as its value. */
function mergedPart(before: object, change: unknown): unknown {
  if (change === undefined) return before
  if (change === null) return undefined
  if (!isObject(change)) return change
  const members = Object.entries({ ...before, ...change }).filter(([, member]) => member !== null)
  return Object.fromEntries(members)
}

/** Secrets are not shown, so those that are not sent again are kept, one by one. */
function withMergedSecrets(merged: unknown, { secrets: before }: Json, change: unknown): unknown {
  const sent = isObject(change) ? change['secrets'] : undefined
  if (!isObject(merged) || !isObject(before) || !isObject(sent)) return merged
  const { secrets: _, ...rest } = merged
  const secrets = mergedPart(before, sent) as Json
  return Object.keys(secrets).length === 0 ? rest : { ...rest, secrets }
}

/** Whether two definitions say the same. */
export function isSameDefinition(left: ParsedDefinition, right: ParsedDefinition): boolean {
  return canonicalJson(contentOf(left)) === canonicalJson(contentOf(right))
}

function contentOf({ name, tags, source, schema, processing }: ParsedDefinition): object {
  return { name, tags, source, schema, processing }
}

function invalid(details: readonly ErrorDetail[]): DomainError {
  return new DomainError('invalid_request', 'the change is not valid', { details })
}
