import type { Compilable } from 'kysely'
import { optional, type StateDatabase } from '../../storage/state/database.ts'
import { isInForce } from './shared-rows.ts'

/**
 * The change that has all permissions of a resource count no more, for the transaction that removes it. What else
 * belongs to their ends follows (src/twins/permissions/permission-ends.ts).
 */
export function endedWith(state: StateDatabase, resourceId: string, nowUs: number): Compilable {
  return optional(
    state
      .updateTable('permissions')
      // Over by every clock, however it is set.
      .set({ expires_at: 0, ended_by: 'resource_deleted' })
      .where('resource_id', '=', resourceId)
      .where(isInForce(nowUs)),
  )
}
