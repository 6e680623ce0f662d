import { canonicalJson } from '../../core/canonical-json.ts'
import { conflict } from '../../core/conflict.ts'
import type { DataStream } from './data-stream-store.ts'
import type { ParsedDefinition } from './definition.ts'

/**
 * Lets a change go on that leaves alone what is the fleet's: of the stream of a device the name and its own tags may
 * change.
 *
 * @throws DomainError `conflict`
 */
export function assertOwnPart({ fleet, ...before }: DataStream, after: ParsedDefinition): void {
  if (fleet === undefined) return
  const parts = (['source', 'schema', 'processing'] as const).filter(
    (part) => canonicalJson(before[part]) !== canonicalJson(after[part]),
  )
  if (parts.length > 0) {
    throw conflict(
      `${parts.join(', ')}: of the fleet ${fleet.fleetId}, and the same for all of its streams`,
      'Change the definition of all streams of the fleet with PUT /fleets/{fleetId}.',
    )
  }
  if (before.tags['device'] === after.tags['device']) return
  throw conflict(
    'the tag device is the name of the device in its fleet',
    'Give the device another name with POST /fleets/{fleetId}/devices/{device}/rename.',
  )
}
