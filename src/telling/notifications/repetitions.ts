import { type Clocks, steadyUsOf } from '../../core/clock.ts'
import { isDeduplicated } from '../../outbox/events/event-types.ts'
import type { RecordedEvent } from '../../outbox/events/events.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** How long an entry stands for others of its kind. */
const repetitionUs = 5 * 60_000_000

/**
 * Whether an event repeats one that the inbox has (decisions.md#repetitions-of-an-event): of the
 * same user, resource and type, within five minutes of it, in steady time. Not of the last
 * repetition: those are not written down. Read or archived entries count, deleted ones do not.
 */
export async function isRepetition(
  transaction: StateDatabase,
  { type, ownerId, resourceId, atUs }: RecordedEvent,
  clock: Clocks,
): Promise<boolean> {
  if (!isDeduplicated(type)) return false
  const entry = await transaction
    .selectFrom('inbox_entries')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('resource_id', '=', resourceId)
    .where('event_type', '=', type)
    .where('noted_at', '>', steadyUsOf(clock, atUs) - repetitionUs)
    .limit(1)
    .executeTakeFirst()
  return entry !== undefined
}
