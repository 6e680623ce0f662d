import { sql } from 'kysely'
import { type Clocks, steadyUsOf } from '../../../core/clock.ts'
import { type InboxEntryId, newId } from '../../../core/ids.ts'
import type { RecordedEvent } from '../../../outbox/events/events.ts'
import type { StateDatabase } from '../../../storage/state/database.ts'
import { isByAnother } from '../by-others.ts'
import type { FanOutStep } from '../fan-out.ts'
import { textOf } from './inbox-entry.ts'
import { entryLifetimeUs, hourOf } from './lifetime.ts'

/**
 * Entries of one user that are written in one minute; nobody reads more. What is beyond them is not
 * written down, so it suppresses nothing either (decisions.md#the-inbox).
 */
const entriesOfMinuteMax = 100

/** What others bring about finds room as long as the minute has fewer: the rest is left to what is the user's own. */
const entriesByOthersMax = 20

const minuteUs = 60_000_000

/** An entry and its counts take about as long as one row, and so does finding that there is no room. */
const rowsOfEntry = 1

/** Writes events into the inboxes of their owners, in the transaction that tells of them. */
export class Inboxes {
  readonly #clock: Clocks
  #refused = 0

  constructor(clock: Clocks) {
    this.#clock = clock
  }

  /** Entries that found no room in the inbox of their user, since the start. */
  get refused(): number {
    return this.#refused
  }

  readonly step: FanOutStep = async (transaction, event, channels, afterwards) => {
    if (!channels.has('in_app')) return 0
    const steadyUs = steadyUsOf(this.#clock, event.atUs)
    const isAdded = await addToInbox(transaction, event, steadyUs)
    if (!isAdded) afterwards(() => this.#refused++)
    return rowsOfEntry
  }
}

/** Resolves with whether there was room in this minute. */
async function addToInbox(
  transaction: StateDatabase,
  event: RecordedEvent,
  steadyUs: number,
): Promise<boolean> {
  const position = await nextPosition(transaction, event, steadyUs)
  if (position === undefined) return false
  const { id, ownerId, atUs, type, resourceType, resourceId } = event
  const { vaultId = null, streamId = null, severity = null } = event
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
      vault_id: vaultId,
      stream_id: streamId,
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
  event: RecordedEvent,
  steadyUs: number,
): Promise<number | undefined> {
  const { ownerId } = event
  const entriesMax = isByAnother(event) ? entriesByOthersMax : entriesOfMinuteMax
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
        .where(sql<boolean>`NOT (${isSameMinute} AND inboxes.written >= ${entriesMax})`),
    )
    .returning('newest')
    .executeTakeFirst()
  return row?.newest
}
