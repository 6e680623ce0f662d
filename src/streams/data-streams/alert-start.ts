import { type Compilable, sql } from 'kysely'
import { optional, type StateDatabase } from '../../storage/state/database.ts'
import { alertRulesOf } from './alert-definition.ts'
import type { VersionedDefinition } from './definition.ts'
import { storedFieldsOf } from './transform-definition.ts'

/**
 * The change that has the rules of a new version begin, and those of the one before it end, though no
 * reading comes: silence counts from then on.
 */
export function alertStart(
  state: StateDatabase,
  { streamId, version }: { readonly streamId: string; readonly version: number },
  ...definitions: readonly VersionedDefinition[]
): readonly Compilable[] {
  if (!definitions.some(hasRules)) return []
  const nothing = {
    version: 0,
    fleet_rules: '[]',
    memories: '{}',
    digests: '[]',
    sequences: '{}',
    due_at: null,
  }
  return [
    state
      .insertInto('alert_memories')
      .values({ stream_id: streamId, newest_version: version, ...nothing })
      .onConflict((conflict) =>
        conflict.column('stream_id').doUpdateSet({ newest_version: version }),
      ),
  ]
}

/**
 * The change that has the rules of many streams compared for a stream that is new, or was changed, if its
 * owner has any.
 */
export function fleetRulesChange(
  state: StateDatabase,
  { id, ownerId }: { readonly id: string; readonly ownerId: string },
): Compilable {
  const insert = state
    .insertInto('alert_rule_changes')
    .columns(['stream_id', 'changes'])
    .expression(
      sql`SELECT ${id}, 1 WHERE EXISTS (SELECT 1 FROM alert_rules WHERE owner_id = ${ownerId})`,
    )
    .onConflict((conflict) =>
      conflict.column('stream_id').doUpdateSet({ changes: sql`alert_rule_changes.changes + 1` }),
    )
  return optional(insert)
}

function hasRules(definition: VersionedDefinition): boolean {
  return alertRulesOf(definition.processing, storedFieldsOf(definition)).length > 0
}
