import { sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import type { StateDatabase, StateWriter } from '../state/database.ts'

/** How long events are kept (D41). */
const eventLifetimeUs = 30 * 24 * 3_600 * 1_000_000

/** Events that one commit removes: with large bodies that is some megabytes. */
const removedMax = 1_000

interface ExpiryNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
}

/** Removes some of the events that are too old. Resolves with whether there are more. */
export async function removeOldEvents({ state, writer, clock }: ExpiryNeeds): Promise<boolean> {
  const beforeUs = clock.nowUs() - eventLifetimeUs
  const { rows: last } = await sql<{ readonly at: number }>`
    SELECT at FROM events WHERE at <= ${beforeUs}
    ORDER BY at LIMIT 1 OFFSET ${removedMax - 1}`.execute(state)
  await writer.commit(state.deleteFrom('events').where('at', '<=', last[0]?.at ?? beforeUs))
  return last.length > 0
}
