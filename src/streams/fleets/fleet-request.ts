import { isObject } from '../../contracts/definitions/field-map.ts'
import { integer, type Json, Problems } from '../../contracts/definitions/problems.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import { parseId, type VaultId } from '../../core/ids.ts'
import { parseName } from '../data-streams/definition.ts'
import { parseTags, type Tags, tagsMax } from '../data-streams/tags.ts'
import type { Units } from '../units/units.ts'
import { deviceTag, type Fleet, fleetStreamsDefault, fleetStreamsMax } from './fleet.ts'
import {
  changedFleetDefinition,
  parseFleetDefinition,
  withFleetConversions,
} from './fleet-definition.ts'
import type { NewFleet } from './fleet-store.ts'

const newKeys = ['name', 'vaultId', 'definition', 'streamsMax', 'tags']

const vaultHint =
  'Name in vaultId the vault that the streams of the fleet belong to: GET /vaults lists them.'

/**
 * Reads what a fleet is to be made with.
 *
 * @throws DomainError `invalid_request` naming everything that is wrong, or `unsupported_definition`
 */
export async function parseNewFleet(body: unknown, units: Units): Promise<NewFleet> {
  const found: ErrorDetail[] = []
  const problems = new Problems('', found)
  const value = isObject(body) ? body : {}
  problems.refuseUnknown(value, newKeys)
  const name = parseName(value['name'], found)
  const { vaultId: vaultText, streamsMax = fleetStreamsDefault } = value
  const vaultId = typeof vaultText === 'string' ? parseId<VaultId>(vaultText) : undefined
  if (vaultId === undefined) problems.add('vaultId', 'must be a uuid', vaultHint)
  integer(1, fleetStreamsMax)(streamsMax, 'streamsMax', problems)
  const tags = parseFleetTags(value['tags'], found)
  const definition = both(found, () =>
    parseFleetDefinition(value['definition'], vaultId ?? anyVault),
  )
  if (found.length > 0 || vaultId === undefined || definition === undefined) throw invalid(found)
  const complete = await withFleetConversions(units, definition, vaultId)
  return { name, vaultId, tags, streamsMax: streamsMax as number, definition: complete }
}

/** A vault that is well written, so that what is wrong is said of the rest. */
const anyVault = '00000000-0000-4000-8000-000000000000' as VaultId

/**
 * A fleet after a change: what is not sent keeps its value. Tags that are taken away stay as null, so that the streams
 * lose them.
 *
 * @param isSettled whether all streams of the fleet have its present version: they have lost such tags then
 * @throws DomainError as `parseNewFleet` does
 */
export async function changedFleet(
  before: Fleet,
  body: unknown,
  { units, isSettled }: { readonly units: Units; readonly isSettled: boolean },
): Promise<Fleet> {
  const found: ErrorDetail[] = []
  const problems = new Problems('', found)
  const change = isObject(body) ? body : {}
  if (!isObject(body)) problems.add('', 'must be a JSON object')
  problems.refuseUnknown(change, newKeys)
  const { name = before.name, streamsMax = before.streamsMax, vaultId } = change
  parseName(name, found)
  integer(1, fleetStreamsMax)(streamsMax, 'streamsMax', problems)
  if (vaultId !== undefined && vaultId !== before.vaultId) {
    problems.add('vaultId', 'cannot be changed')
  }
  const tags = mergedTags(before, change['tags'], { isSettled, found })
  const definition = both(found, () =>
    changedFleetDefinition(before.definition, change['definition'], before.vaultId),
  )
  if (found.length > 0 || definition === undefined) throw invalid(found)
  const complete =
    change['definition'] === undefined
      ? before.definition
      : await withFleetConversions(units, definition, before.vaultId)
  return {
    ...before,
    name: name as string,
    streamsMax: streamsMax as number,
    tags,
    definition: complete,
  }
}

/** Tags of all streams of a fleet: with that of the device they are as many as a stream can have. */
function parseFleetTags(value: unknown, found: ErrorDetail[]): Tags {
  const tags = parseTags(value, found)
  if (Object.hasOwn(tags, deviceTag)) {
    found.push({ path: `tags.${deviceTag}`, message: 'is the name of the device in each stream' })
  }
  if (Object.keys(tags).length === tagsMax) {
    found.push({ path: 'tags', message: `has more than ${tagsMax - 1} tags` })
  }
  return tags
}

function mergedTags(
  { tags: before }: Fleet,
  change: unknown,
  { isSettled, found }: { readonly isSettled: boolean; readonly found: ErrorDetail[] },
): Fleet['tags'] {
  if (change === undefined) return before
  if (change !== null && !isObject(change)) {
    found.push({ path: 'tags', message: 'must be an object of texts' })
    return before
  }
  const had = Object.entries(before)
  const known = Object.fromEntries(had.filter(([, value]) => value !== null || !isSettled))
  const withoutAll = Object.fromEntries(Object.keys(known).map((key) => [key, null]))
  const merged: Json = change === null ? withoutAll : { ...known, ...change }
  const given = Object.entries(merged).filter(([, value]) => value !== null)
  parseFleetTags(Object.fromEntries(given), found)
  // A tag that the fleet never had is none that could be taken away.
  const kept = Object.entries(merged).filter(
    ([key, value]) => value !== null || Object.hasOwn(known, key),
  )
  return Object.fromEntries(kept) as Fleet['tags']
}

/** Adds what is wrong with the definition to what is wrong with the rest. */
function both<Value>(found: ErrorDetail[], parse: () => Value): Value | undefined {
  try {
    return parse()
  } catch (error) {
    // What is wrong comes before what is only not possible.
    if (!(error instanceof DomainError)) throw error
    if (error.code !== 'invalid_request') {
      if (found.length > 0) return undefined
      throw error
    }
    found.push(...(error.details ?? []))
    return undefined
  }
}

function invalid(details: readonly ErrorDetail[]): DomainError {
  return new DomainError('invalid_request', 'the fleet is not valid', { details })
}
