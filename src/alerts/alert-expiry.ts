import { sql } from 'kysely'
import type { AgeClock } from '../core/age-clock.ts'
import type { StateDatabase, StateWriter } from '../storage/state/database.ts'

/** Alerts that one commit removes, each with its history. */
const removedMax = 1_000

interface ExpiryNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly ages: AgeClock
  /** How long alerts that have ended can be looked at (decisions.md#the-end-of-alerts). */
  readonly keptUs: number
}

/** Removes some of the alerts that ended too long ago. Resolves with whether there are more. */
export async function removeOldAlerts(needs: ExpiryNeeds): Promise<boolean> {
  const { state, writer, ages, keptUs } = needs
  const rows = await state
    .selectFrom('alerts')
    .select('id')
    .where('ended_at', '<=', ages.nowUs() - keptUs)
    .orderBy('ended_at')
    .limit(removedMax)
    .execute()
  if (rows.length === 0) return false
  const ids = sql.join(rows.map(({ id }) => id))
  await writer.commit(
    state.deleteFrom('alert_history').where(sql<boolean>`alert_id IN (${ids})`),
    state.deleteFrom('alerts').where(sql<boolean>`id IN (${ids})`),
  )
  return rows.length === removedMax
}
