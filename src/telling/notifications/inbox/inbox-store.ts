import { type Compilable, type RawBuilder, type Selectable, sql } from 'kysely'
import type { Clock } from '../../../core/clock.ts'
import type { InboxEntryId, UserId } from '../../../core/ids.ts'
import { optional, type StateDatabase, type StateWriter } from '../../../storage/state/database.ts'
import type { Slice } from '../../../storage/state/listing.ts'
import type { StateSchema } from '../../../storage/state/schema.ts'
import { countsOf, type Marks, marksOf } from './inbox-counts.ts'
import type { InboxEntry } from './inbox-entry.ts'
import { hourOf } from './lifetime.ts'

/** Expired entries that one commit removes. */
const removedMax = 5_000

export interface InboxWish extends Slice {
  readonly unreadOnly: boolean
  /** Severity of alerts; nothing else is wanted then. */
  readonly severity?: string | undefined
}

export interface InboxPage {
  readonly entries: readonly InboxEntry[]
  readonly total: number
  /** Entries of the whole inbox, whatever page or filter was asked for (decisions.md#the-inbox). */
  readonly unread: number
}

export interface InboxStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
}

/**
 * What users were told, newest first.
 *
 * A million entries must be counted, read and archived at once. So they are counted by the hour in
 * which they expire (`inbox_counts`): what has expired leaves the count with its hour, and only the
 * entries of the hour that is expiring now are looked at. To read or archive all of them is to move a
 * mark of the inbox up to the newest one; an entry counts as read when it says so or the mark does.
 */
export class InboxStore {
  readonly #needs: InboxStoreNeeds

  constructor(needs: InboxStoreNeeds) {
    this.#needs = needs
  }

  /** A page of what is neither archived nor expired, newest first. */
  async list(
    ownerId: UserId,
    { unreadOnly, severity, offset, limit }: InboxWish,
  ): Promise<InboxPage> {
    const { state, clock } = this.#needs
    const nowUs = clock.nowUs()
    // One view of the state for all of it: what comes in between would shift the page.
    return await state.transaction().execute(async (view) => {
      const marks = await marksOf(view, ownerId)
      const { listed, unread } = await countsOf(view, ownerId, { marks, nowUs })
      const after = unreadOnly ? marks.readThrough : marks.archivedThrough
      const wanted = sql`FROM inbox_entries
        WHERE owner_id = ${ownerId} AND archived_at IS NULL
          AND ${unreadOnly ? sql`read_at IS NULL` : sql`1 = 1`}
          AND ${severity === undefined ? sql`1 = 1` : sql`severity = ${severity}`}
          AND position > ${after} AND expires_at > ${nowUs}`
      let total = unreadOnly ? unread : listed
      // Hours are counted as a whole; of alerts alone an index is gone over.
      if (severity !== undefined) total = await countIn(view, wanted)
      if (offset >= total) return { entries: [], total, unread }
      const rows = await view
        .selectFrom('inbox_entries')
        .selectAll()
        .where(
          'id',
          'in',
          sql<string>`(SELECT id ${wanted} ORDER BY position DESC LIMIT ${limit} OFFSET ${offset})`,
        )
        .orderBy('position', 'desc')
        .execute()
      return { entries: rows.map((row) => entryOf(row, marks)), total, unread }
    })
  }

  async unread(ownerId: UserId): Promise<number> {
    const { state, clock } = this.#needs
    const nowUs = clock.nowUs()
    return await state.transaction().execute(async (view) => {
      const marks = await marksOf(view, ownerId)
      return (await countsOf(view, ownerId, { marks, nowUs })).unread
    })
  }

  /** Entries after a position, oldest first: what a reader has missed. */
  async after(ownerId: UserId, position: number, limit: number): Promise<readonly InboxEntry[]> {
    const { state, clock } = this.#needs
    return await state.transaction().execute(async (view) => {
      const marks = await marksOf(view, ownerId)
      const rows = await view
        .selectFrom('inbox_entries')
        .selectAll()
        .where('owner_id', '=', ownerId)
        .where('archived_at', 'is', null)
        .where('position', '>', Math.max(position, marks.archivedThrough))
        .where('expires_at', '>', clock.nowUs())
        .orderBy('position')
        .limit(limit)
        .execute()
      return rows.map((row) => entryOf(row, marks))
    })
  }

  /** The position of the newest entry that there ever was; 0 without any. */
  async newest(ownerId: UserId): Promise<number> {
    return (await marksOf(this.#needs.state, ownerId)).newest
  }

  /** Marks one entry as read. Resolves with it; undefined when this user has no such entry. */
  async read(ownerId: UserId, id: InboxEntryId): Promise<InboxEntry | undefined> {
    const { state, writer, clock } = this.#needs
    const nowUs = clock.nowUs()
    const isMade = await writer.attempt(
      this.#uncount(ownerId, [id], 'unread'),
      state
        .updateTable('inbox_entries')
        .set({ read_at: sql<number>`coalesce(read_at, ${nowUs})` })
        .where('id', '=', id)
        .where('owner_id', '=', ownerId)
        .where('expires_at', '>', nowUs),
    )
    if (!isMade) return undefined
    const row = await state
      .selectFrom('inbox_entries')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && entryOf(row, await marksOf(state, ownerId))
  }

  async readAll(ownerId: UserId): Promise<void> {
    const { state, writer } = this.#needs
    await writer.commit(
      state
        .updateTable('inboxes')
        .set({ read_through: sql<number>`newest` })
        .where('owner_id', '=', ownerId),
      state
        .updateTable('inbox_counts')
        .set({ unread: 0 })
        .where('owner_id', '=', ownerId)
        .where('unread', '>', 0),
    )
  }

  /** Deletes one entry. False when this user has no such entry. */
  async remove(ownerId: UserId, id: InboxEntryId): Promise<boolean> {
    const { state, writer, clock } = this.#needs
    return await writer.attempt(
      this.#uncount(ownerId, [id], 'unread'),
      this.#uncount(ownerId, [id], 'listed'),
      state
        .deleteFrom('inbox_entries')
        .where('id', '=', id)
        .where('owner_id', '=', ownerId)
        .where('expires_at', '>', clock.nowUs()),
    )
  }

  /** The changes that archive these entries, as far as they are the user's own and listed. */
  archiving(ownerId: UserId, ids: readonly InboxEntryId[]): readonly Compilable[] {
    const { state, clock } = this.#needs
    const { listed } = conditionsOf(ownerId)
    const archived = state
      .updateTable('inbox_entries')
      .set({ archived_at: clock.nowUs() })
      .where('id', 'in', ids)
      .where(listed)
    return [
      this.#uncount(ownerId, ids, 'unread'),
      this.#uncount(ownerId, ids, 'listed'),
      optional(archived),
    ]
  }

  /** The changes that archive everything that is read. */
  archivingRead(ownerId: UserId): readonly Compilable[] {
    const { state, clock } = this.#needs
    const readThrough = sql<number>`(SELECT read_through FROM inboxes WHERE owner_id = ${ownerId})`
    return [
      state
        .updateTable('inbox_entries')
        .set({ archived_at: clock.nowUs() })
        .where('owner_id', '=', ownerId)
        .where('archived_at', 'is', null)
        .where('read_at', 'is not', null)
        .where('position', '>', readThrough),
      state
        .updateTable('inboxes')
        .set({ archived_through: sql<number>`read_through` })
        .where('owner_id', '=', ownerId),
      state
        .updateTable('inbox_counts')
        .set({ listed: sql<number>`unread` })
        .where('owner_id', '=', ownerId),
    ].map(optional)
  }

  /** How many of these entries are the user's own and listed; of all that are read, without ids. */
  async archivable(ownerId: UserId, ids: readonly InboxEntryId[] | undefined): Promise<number> {
    const { state, clock } = this.#needs
    const nowUs = clock.nowUs()
    return await state.transaction().execute(async (view) => {
      if (ids === undefined) {
        const marks = await marksOf(view, ownerId)
        const { listed, unread } = await countsOf(view, ownerId, { marks, nowUs })
        return listed - unread
      }
      const { total } = await view
        .selectFrom('inbox_entries')
        .select((select) => select.fn.countAll<number>().as('total'))
        .where('id', 'in', ids)
        .where(conditionsOf(ownerId).listed)
        .where('expires_at', '>', nowUs)
        .executeTakeFirstOrThrow()
      return total
    })
  }

  /** Removes some of what has expired. Resolves with whether there is more. */
  async purge(): Promise<boolean> {
    const { state, writer, clock } = this.#needs
    const nowUs = clock.nowUs()
    const { rows: last } = await sql<{ readonly at: number }>`
      SELECT expires_at AS at FROM inbox_entries WHERE expires_at <= ${nowUs}
      ORDER BY expires_at LIMIT 1 OFFSET ${removedMax - 1}`.execute(state)
    await writer.commit(
      state.deleteFrom('inbox_entries').where('expires_at', '<=', last[0]?.at ?? nowUs),
      state.deleteFrom('inbox_counts').where('hour', '<', hourOf(nowUs)),
    )
    return last.length > 0
  }

  /** Takes entries out of a count, those that are in it. */
  #uncount(ownerId: UserId, ids: readonly InboxEntryId[], count: 'listed' | 'unread'): Compilable {
    const counted = sql`FROM inbox_entries
      WHERE id IN (${sql.join(ids)}) AND ${conditionsOf(ownerId)[count]}`
    return optional(
      this.#needs.state
        .updateTable('inbox_counts')
        .set({
          [count]: sql<number>`${sql.ref(count)} -
            (SELECT count(*) ${counted} AND inbox_entries.hour = inbox_counts.hour)`,
        })
        .where('owner_id', '=', ownerId)
        .where('hour', 'in', sql<number>`(SELECT hour ${counted})`),
    )
  }
}

/** Which entries of a user are listed, and which of them are unread, whether expired or not. */
function conditionsOf(ownerId: UserId): Record<'listed' | 'unread', RawBuilder<boolean>> {
  const mark = (name: string) =>
    sql`(SELECT ${sql.ref(name)} FROM inboxes WHERE owner_id = ${ownerId})`
  const listed = sql<boolean>`inbox_entries.owner_id = ${ownerId} AND archived_at IS NULL
    AND position > ${mark('archived_through')}`
  return {
    listed,
    unread: sql<boolean>`${listed} AND read_at IS NULL AND position > ${mark('read_through')}`,
  }
}

function entryOf(row: Selectable<StateSchema['inbox_entries']>, marks: Marks): InboxEntry {
  return {
    ...row,
    isRead: row.read_at !== null || row.position <= marks.readThrough,
    isArchived: row.archived_at !== null || row.position <= marks.archivedThrough,
  }
}

async function countIn(view: StateDatabase, wanted: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total ${wanted}`.execute(view)
  return rows[0]?.total ?? 0
}
