import { sql } from 'kysely'
import { type InboxEntryId, newId } from '../../../core/ids.ts'
import { isDeduplicated } from '../../../outbox/events/event-types.ts'
import type { RecordedEvent } from '../../../outbox/events/events.ts'
import type { StateDatabase } from '../../../storage/state/database.ts'
import { textOf } from './inbox-entry.ts'
import { entryLifetimeUs, hourOf } from './lifetime.ts'

/**
 * Entries of one user that are written in one minute; nobody reads more. What is beyond them is not
 * written down, so it suppresses nothing either (decisions.md#the-inbox).
 */
const entriesOfMinuteMax = 100

const minuteUs = 60_000_000

/** How long an entry stands for others of its kind. */
const repetitionUs = 5 * minuteUs

/**
 * Whether an event repeats one that the inbox has (decisions.md#repetitions-of-an-event): of the
 * same user, resource and type, within five minutes of it, in steady time. Not of the last
 * repetition: those are not written down. Read or archived entries count, deleted ones do not.
 */
export async function isRepetition(
  transaction: StateDatabase,
  { type, ownerId, resourceId }: RecordedEvent,
  steadyUs: number,
): Promise<boolean> {
  if (!isDeduplicated(type)) return false
  const entry = await transaction
    .selectFrom('inbox_entries')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('resource_id', '=', resourceId)
    .where('event_type', '=', type)
    .where('noted_at', '>', steadyUs - repetitionUs)
    .limit(1)
    .executeTakeFirst()
  return entry !== undefined
}

/** Writes an event into the inbox of its owner. Resolves with whether there was room in this minute. */
export async function addToInbox(
  transaction: StateDatabase,
  event: RecordedEvent,
  steadyUs: number,
): Promise<boolean> {
  const position = await nextPosition(transaction, event.ownerId, steadyUs)
  if (position === undefined) return false
  const { id, ownerId, atUs, type, resourceType, resourceId, severity = null } = event
  const text = textOf(event)
  const expiresAtUs = atUs + entryLifetimeUs
  const hour = hourOf(expiresAtUs)
  await transaction
    .insertInto('inbox_entries')
    .values({
      id: newId<InboxEntryId>(),
      owner_id: ownerId,
      position,
      created_at: atUs,
      noted_at: steadyUs,
      expires_at: expiresAtUs,
      hour,
      event_id: id,
      ...text,
      event_type: type,
      resource_type: resourceType,
      resource_id: resourceId,
      severity,
      read_at: null,
      archived_at: null,
    })
    .execute()
  await transaction
    .insertInto('inbox_counts')
    .values({ owner_id: ownerId, hour, listed: 1, unread: 1 })
    .onConflict((conflict) =>
      conflict.columns(['owner_id', 'hour']).doUpdateSet({
        listed: sql<number>`inbox_counts.listed + 1`,
        unread: sql<number>`inbox_counts.unread + 1`,
      }),
    )
    .execute()
  return true
}

/** The place of the next entry; undefined when this minute has too many already. */
async function nextPosition(
  transaction: StateDatabase,
  ownerId: string,
  steadyUs: number,
): Promise<number | undefined> {
  const minute = Math.floor(steadyUs / minuteUs)
  const isSameMinute = sql<boolean>`inboxes.minute = ${minute}`
  const row = await transaction
    .insertInto('inboxes')
    .values({ owner_id: ownerId, newest: 1, minute, written: 1 })
    .onConflict((conflict) =>
      conflict
        .column('owner_id')
        .doUpdateSet({
          newest: sql<number>`inboxes.newest + 1`,
          minute,
          written: sql<number>`CASE WHEN ${isSameMinute} THEN inboxes.written + 1 ELSE 1 END`,
        })
        .where(sql<boolean>`NOT (${isSameMinute} AND inboxes.written >= ${entriesOfMinuteMax})`),
    )
    .returning('newest')
    .executeTakeFirst()
  return row?.newest
}
