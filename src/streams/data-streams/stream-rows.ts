import { sql } from 'kysely'
import type { StateDatabase } from '../../storage/state/database.ts'
import { padded } from '../../storage/state/portions.ts'
import type { StateSchema } from '../../storage/state/schema.ts'

/** Rows that one transaction removes: each may hold the bytes of a message, or a definition. */
const rowsPerTransaction = 500

/** Tables of which a stream may have many rows, by what a row is known by. An index begins with the stream. */
const largeTables = {
  quarantine: ['stream_id', 'journal_offset'],
  alert_history: ['alert_id', 'step'],
  alerts: ['id'],
  data_stream_versions: ['stream_id', 'version'],
  lifecycle_events: ['stream_id', 'at'],
  device_streams: ['device_id', 'stream_id'],
  alert_rule_omissions: ['rule_id', 'stream_id'],
  seal_marks: ['stream_id', 'start_us', 'width_us'],
  seals: ['number'],
} as const satisfies Partial<Record<keyof StateSchema, readonly string[]>>

/** Tables of which a stream has a few rows. An index begins with the stream. */
const smallTables = [
  'stream_counters',
  'stream_sources',
  'data_stream_tags',
  'data_stream_topics',
  'alert_memories',
  'alert_rule_changes',
  'fleet_devices',
] as const satisfies readonly (keyof StateSchema)[]

type LargeTable = keyof typeof largeTables

const tablesOfStreams = [...(Object.keys(largeTables) as LargeTable[]), ...smallTables] as const

/** Ids that one look at a table finds. */
const idsPerLook = 500

/**
 * Removes what the state holds of streams that nobody will meet again. What was counted of them stays in the totals;
 * what their quarantines held is discarded there.
 */
export async function removeFromState(
  state: StateDatabase,
  streamIds: readonly string[],
  nowUs: number,
): Promise<void> {
  const ids = padded(streamIds)
  for (const table of Object.keys(largeTables) as LargeTable[]) {
    while (await removePortion(state, table, ids));
  }
  while (await removeReceipts(state, ids));
  await state.transaction().execute(async (transaction) => {
    await addToDeparted(transaction, ids)
    for (const table of smallTables) {
      await transaction.deleteFrom(table).where('stream_id', 'in', ids).execute()
    }
    await transaction
      .updateTable('data_stream_deletions')
      .set({ removed_at: nowUs })
      .where('stream_id', 'in', ids)
      .where('removed_at', 'is', null)
      .execute()
  })
}

/** Removes some rows. Resolves with whether there may be more. */
async function removePortion(
  state: StateDatabase,
  table: LargeTable,
  ids: readonly string[],
): Promise<boolean> {
  const rows = sql.table(table)
  const key = sql.join(largeTables[table].map((column) => sql.ref(column)))
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM ${rows} WHERE (${key}) IN (
      SELECT ${key} FROM ${rows} WHERE stream_id IN (${sql.join(ids)}) LIMIT ${rowsPerTransaction})`.execute(
    state,
  )
  return numAffectedRows > 0n
}

/** Times of receipt of repeated requests: their owners have room for others then. */
async function removeReceipts(state: StateDatabase, ids: readonly string[]): Promise<boolean> {
  return await state.transaction().execute(async (transaction) => {
    const owners = transaction
      .selectFrom('data_stream_deletions')
      .select('owner_id')
      .where('stream_id', 'in', ids)
    const removed = await transaction
      .deleteFrom('idempotency_keys')
      .where(
        sql<boolean>`(user_id, stream_id, key) IN (
          SELECT user_id, stream_id, key FROM idempotency_keys
          WHERE user_id IN ${owners} AND stream_id IN (${sql.join(ids)}) LIMIT ${rowsPerTransaction})`,
      )
      .returning('user_id')
      .execute()
    for (const [owner, rows] of Map.groupBy(removed, ({ user_id: id }) => id)) {
      await transaction
        .updateTable('totals')
        .set({ total: sql<number>`total - ${rows.length}` })
        .where('list', '=', 'receipts')
        .where('owner_id', '=', owner)
        .execute()
    }
    return removed.length === rowsPerTransaction
  })
}

/** Within the transaction in which their own counters go. */
async function addToDeparted(transaction: StateDatabase, ids: readonly string[]): Promise<void> {
  const sum = (column: string) =>
    sql`(SELECT coalesce(sum(${sql.raw(column)}), 0) FROM stream_counters
      WHERE stream_id IN (${sql.join(ids)}))`
  await sql`UPDATE departed_counters SET
    received = received + ${sum('received')},
    accepted = accepted + ${sum('accepted')},
    filtered = filtered + ${sum('filtered')},
    discarded = discarded + ${sum('discarded + quarantined')}`.execute(transaction)
}

/** What the store has counted of a stream. */
export interface CountedStream {
  readonly streamId: string
  readonly received: number
  readonly stored: number
  readonly duplicates: number
  readonly unchanged: number
}

/**
 * Counters of streams that have none any more, as an earlier version has taken them away when the streams were
 * deleted: out of what the store has counted, so that totals add up once these streams leave there, too. What was
 * filtered cannot be told from what was discarded.
 */
export async function addMissingCounters(
  state: StateDatabase,
  streams: readonly CountedStream[],
): Promise<void> {
  const rows = streams.map(({ streamId, received, stored, duplicates, unchanged }) => {
    const accepted = stored + duplicates + unchanged
    const nothing = { filtered: 0, quarantined: 0, quarantine_bytes: 0, is_discarding: 0 }
    return {
      stream_id: streamId,
      received,
      accepted,
      discarded: Math.max(0, received - accepted),
      ...nothing,
      last_received_at: 0,
      day: 0,
      received_on_day: 0,
    }
  })
  await state
    .insertInto('stream_counters')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/**
 * Finds streams that are gone, and of which the state still has rows: left by an earlier version, or written by
 * somebody who had not heard yet. Goes through the tables portion by portion, as they may be large.
 */
export async function* departedIds(state: StateDatabase): AsyncGenerator<readonly string[]> {
  for (const table of tablesOfStreams) {
    let after = ''
    for (;;) {
      const ids = await idsIn(state, table, after)
      const last = ids.at(-1)
      if (last === undefined) break
      const departed = await withoutStream(state, ids)
      if (departed.length > 0) yield departed
      after = last
    }
  }
}

/** The next ids that a table has rows of: one step along its index for each of them, however many rows there are. */
async function idsIn(
  state: StateDatabase,
  table: (typeof tablesOfStreams)[number],
  after: string,
): Promise<readonly string[]> {
  const rows = sql.table(table)
  const found = await sql<{ readonly id: string | null }>`
    WITH RECURSIVE ids(id) AS (
      SELECT min(stream_id) FROM ${rows} WHERE stream_id > ${after}
      UNION ALL
      SELECT (SELECT min(stream_id) FROM ${rows} WHERE stream_id > ids.id) FROM ids
        WHERE ids.id IS NOT NULL LIMIT ${idsPerLook})
    SELECT id FROM ids WHERE id IS NOT NULL`.execute(state)
  return found.rows.map(({ id }) => String(id))
}

/** Picks the ids that no stream has any more, and that no removal is still to come to. */
export async function withoutStream(
  state: StateDatabase,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return []
  const some = padded(ids)
  const streams = await state
    .selectFrom('data_streams')
    .select('id')
    .where('id', 'in', some)
    .execute()
  const leaving = await state
    .selectFrom('data_stream_deletions')
    .select('stream_id as id')
    .where('stream_id', 'in', some)
    .where('removed_at', 'is', null)
    .execute()
  const known = new Set([...streams, ...leaving].map(({ id }) => id))
  return ids.filter((id) => !known.has(id))
}

/** Picks the ids of which it is noted that they were streams, and were removed. */
export async function withNote(
  state: StateDatabase,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return []
  const rows = await state
    .selectFrom('data_stream_deletions')
    .select('stream_id as id')
    .where('stream_id', 'in', padded(ids))
    .execute()
  return rows.map(({ id }) => id)
}
