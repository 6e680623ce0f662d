import { isObject } from '../../contracts/definitions/field-map.ts'
import { type Json, Problems } from '../../contracts/definitions/problems.ts'
import { parsePath } from '../../contracts/path.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import type { VaultId } from '../../core/ids.ts'
import { withConversions } from '../data-streams/conversions.ts'
import { type ParsedDefinition, parseDefinition } from '../data-streams/definition.ts'
import { changedDefinition } from '../data-streams/definition-change.ts'
import { kindOf, ownTopicOf } from '../data-streams/source-kinds.ts'
import { isFetched } from '../data-streams/stream-sources.ts'
import { streamTypes } from '../data-streams/stream-type.ts'
import type { Units } from '../units/units.ts'
import type { FleetDefinition } from './fleet.ts'
import { deviceLevel } from './fleet-topic.ts'

/** The key of a source that only fleets have. */
const fieldKey = 'deviceField'

/** As long as the name of a member, or a path, can be in a schema. */
const fieldLengthMax = 500

/** A definition that is checked but for its units. */
type ParsedFleetDefinition = Omit<FleetDefinition, 'conversions'>

/** Keys of the definition of one stream that are said of the fleet, or of each device, instead. */
const elsewhere: Json = {
  name: 'is not part of a fleet: each stream is named after its device',
  vaultId: 'must stand beside the definition: all streams of a fleet belong to its vault',
  tags: 'must stand beside the definition: all streams of a fleet have its tags',
}

/**
 * Checks the definition of a new fleet, all but its units.
 *
 * @throws DomainError as `parseDefinition` does, with all places below `definition`
 */
export function parseFleetDefinition(value: unknown, vaultId: VaultId): ParsedFleetDefinition {
  const { rest, deviceField } = withoutField(value)
  if (isObject(rest)) {
    const { type: text, source = {} } = rest
    const type = streamTypes.find((known) => known === text)
    // Before anything else: nobody corrects an address that is then not taken.
    if (type !== undefined && isObject(source)) refuseUnsupported({ type, source })
  }
  return checked(value, deviceField, () =>
    parseDefinition(isObject(rest) ? { ...rest, ...stand(vaultId) } : rest),
  )
}

/**
 * A definition after a change: what is not sent keeps its value, as with the definition of a stream.
 *
 * @throws DomainError as `parseFleetDefinition` does, about the definition as it would be
 */
export function changedFleetDefinition(
  before: FleetDefinition,
  change: unknown,
  vaultId: VaultId,
): ParsedFleetDefinition {
  if (change === undefined) return before
  const { rest, deviceField: sent } = withoutField(change)
  const isTakenAway = isObject(change) && change['source'] === null
  const kept = isTakenAway ? undefined : before.deviceField
  const deviceField = sent === undefined ? kept : (sent ?? undefined)
  const { deviceField: _, ...definition } = before
  const asStream: ParsedDefinition = { ...definition, ...stand(vaultId) }
  return checked(change, deviceField, () => changedDefinition(asStream, rest))
}

/**
 * The last part of checking a definition.
 *
 * @throws DomainError `invalid_request`
 */
export async function withFleetConversions(
  units: Units,
  definition: ParsedFleetDefinition,
  vaultId: VaultId,
): Promise<FleetDefinition> {
  return await placed(async () => {
    const { conversions } = await withConversions(units, { ...definition, ...stand(vaultId) })
    return { ...definition, conversions }
  })
}

/** What a definition of one stream has besides: good in any case, so that what is wrong is said of the rest. */
function stand(vaultId: VaultId) {
  return { name: 'one of many', vaultId, tags: {} } as const
}

/** The definition as that of a stream, and the key that only a fleet has. */
function withoutField(value: unknown): { readonly rest: unknown; readonly deviceField: unknown } {
  if (!isObject(value) || !isObject(value['source'])) return { rest: value, deviceField: undefined }
  const { [fieldKey]: deviceField, ...source } = value['source']
  return { rest: { ...value, source }, deviceField }
}

function checked(
  given: unknown,
  deviceField: unknown,
  parse: () => ParsedDefinition,
): ParsedFleetDefinition {
  const found: ErrorDetail[] = []
  const problems = new Problems('definition', found)
  if (!isObject(given)) problems.add('', 'must be an object with type, schema and source')
  else {
    for (const [key, why] of Object.entries(elsewhere)) {
      if (given[key] !== undefined) problems.add(key, String(why))
    }
  }
  const fieldProblem = deviceField === undefined ? undefined : fieldProblemOf(deviceField)
  if (fieldProblem !== undefined) problems.add(`source.${fieldKey}`, fieldProblem)
  const parsed = found.length > 0 && !isObject(given) ? undefined : parsedWith(found, parse)
  if (parsed !== undefined) {
    const topicProblem = topicProblemOf(parsed.source)
    if (topicProblem !== undefined) problems.add('source.topic', topicProblem)
  }
  if (found.length > 0 || parsed === undefined) throw invalid(found)
  refuseUnsupported(parsed)
  const { name: _, vaultId: _vault, tags: _tags, ...definition } = parsed
  return deviceField === undefined
    ? definition
    : { ...definition, deviceField: deviceField as string }
}

/** Undefined for a definition that is not valid: what is wrong with it is added then. */
function parsedWith(
  found: ErrorDetail[],
  parse: () => ParsedDefinition,
): ParsedDefinition | undefined {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const details = below(error)
    if (error.code !== 'invalid_request') throw again(error, details)
    found.push(...details)
    return undefined
  }
}

async function placed<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DomainError) || error.details === undefined) throw error
    throw again(error, below(error))
  }
}

function again(error: DomainError, details: readonly ErrorDetail[]): DomainError {
  return new DomainError(error.code, error.message, { details, remedy: error.remedy })
}

/** Details of the definition of a stream, in their places in that of a fleet. */
function below({ details = [] }: DomainError): readonly ErrorDetail[] {
  return details.map(({ path, ...detail }) => ({
    ...detail,
    path: path === '' ? 'definition' : `definition.${path}`,
  }))
}

function fieldProblemOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '' || value.length > fieldLengthMax) {
    return `must be the name or the path of a member, of 1 to ${fieldLengthMax} characters`
  }
  const path = parsePath(value)
  const names = 'problem' in path ? [value] : path.steps
  if (names.includes('__proto__')) return 'must not name __proto__: no reading has such a member'
  // The name of a member may be no path.
  if ('problem' in path || path.root === 'item') return undefined
  return 'must name a member of the reading: topics and addresses name a device by {device}'
}

function topicProblemOf(source: Json): string | undefined {
  const topic = ownTopicOf(source)
  if (topic === undefined) return undefined
  const all = topic.split('/')
  const other = all.find((level) => /^\{.*\}$/.test(level) && level !== deviceLevel)
  if (other !== undefined) {
    return `must not have ${other}: ${deviceLevel} is the only name of a level, and + stands for any level`
  }
  const levels = all.filter((level) => level.includes(deviceLevel))
  if (levels.length === 1 && levels[0] === deviceLevel) return undefined
  return `must have ${deviceLevel} as exactly one complete level, as in tele/${deviceLevel}/SENSOR`
}

/** Refuses what no device sends to us by itself. */
function refuseUnsupported({ type, source }: Pick<ParsedDefinition, 'source' | 'type'>): void {
  const kind = kindOf(type, source)
  const isPushed = kind?.family === 'device' && kind.isUsual === true && !isFetched(source)
  if (type !== 'service' && isPushed) return
  const path = type === 'service' ? 'type' : 'source'
  const message =
    type === 'service'
      ? 'must not be service: no device sends the events of the service'
      : 'must be of devices that send to the service, over MQTT or HTTP: nothing is fetched for a fleet'
  throw new DomainError('unsupported_definition', 'a fleet cannot be run by this definition', {
    details: [{ path: `definition.${path}`, message }],
    remedy:
      'Leave out endpoint and set protocol to mqtt or http, or make a stream for each source with POST /streams/bulk.',
  })
}

function invalid(details: readonly ErrorDetail[]): DomainError {
  return new DomainError('invalid_request', 'the definition of the fleet is not valid', { details })
}
