import { type Compilable, sql } from 'kysely'
import { anchoring } from '../../storage/state/database.ts'
import type { PlanAnchorNeeds } from './plan-anchor.ts'

/**
 * The change with which that of a resource is tried again which was not done in time: from where it stopped, because what
 * is signed may get in any time and is never signed again. It finds no row where there is nothing to be tried.
 */
export function retriedAnchors({ state, clock }: PlanAnchorNeeds, resourceId: string): Compilable {
  return anchoring(
    state
      .updateTable('anchors')
      .set({
        state: sql<string>`CASE WHEN transaction_hash IS NULL THEN 'waiting' ELSE 'signed' END`,
        begun_at: clock.steadyUs(),
        failure: null,
      })
      .where('resource_id', '=', resourceId)
      .where('state', '=', 'error'),
  )
}
