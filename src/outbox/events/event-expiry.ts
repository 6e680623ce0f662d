import { sql } from 'kysely'
import type { AgeClock } from '../../core/age-clock.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'

/**
 * An event is needed by those who are still to be told of it: deliveries are tried again for a day
 * (decisions.md#attempts-and-passes).
 */
const keptUsMin = 2 * 24 * 3_600 * 1_000_000

/** Events that one commit removes: with large bodies that is some megabytes. */
const removedMax = 1_000

interface ExpiryNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly ages: AgeClock
  /** How long events can be looked at (decisions.md#events-and-their-changes). */
  readonly keptUs: number
}

/** Removes some of the events that are too old. Resolves with whether there are more. */
export async function removeOldEvents(needs: ExpiryNeeds): Promise<boolean> {
  const { state, writer, ages, keptUs } = needs
  const beforeUs = ages.nowUs() - Math.max(keptUs, keptUsMin)
  const { rows: last } = await sql<{ readonly at: number }>`
    SELECT at FROM events WHERE at <= ${beforeUs}
    ORDER BY at LIMIT 1 OFFSET ${removedMax - 1}`.execute(state)
  await writer.commit(state.deleteFrom('events').where('at', '<=', last[0]?.at ?? beforeUs))
  return last.length > 0
}
