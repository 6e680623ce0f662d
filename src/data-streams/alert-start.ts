import type { Compilable } from 'kysely'
import type { StateDatabase } from '../state/database.ts'
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
  const nothing = { version: 0, fleet_rules: '[]', memories: '{}', digests: '[]', due_at: null }
  return [
    state
      .insertInto('alert_memories')
      .values({ stream_id: streamId, newest_version: version, ...nothing })
      .onConflict((conflict) =>
        conflict.column('stream_id').doUpdateSet({ newest_version: version }),
      ),
  ]
}

function hasRules(definition: VersionedDefinition): boolean {
  return alertRulesOf(definition.processing, storedFieldsOf(definition)).length > 0
}
