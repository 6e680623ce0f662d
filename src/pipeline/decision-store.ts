import { sql, type Transaction } from 'kysely'
import type { Offset } from '../journal/journal.ts'
import type { StateDatabase } from '../state/database.ts'
import type { StateSchema } from '../state/schema.ts'
import type { Decision, DecisionStore, RefusedEntry, StreamTally } from './decider.ts'

/** The quarantine of one stream holds this much at most (D20). */
const quarantineEntriesMax = 10_000
const quarantineBytesMax = 64 * 1024 * 1024

/** Rows of one INSERT: SQLite takes 32,766 parameters in a statement. */
const rowsPerInsert = 200

const consumer = 'decider'

export interface DecisionStoreNeeds {
  readonly state: StateDatabase
  /** Told once when the quarantine of a stream runs full and begins to discard. */
  readonly onDiscard: (streamId: string) => void
}

/** Commits decisions to the state database. */
export class StateDecisionStore implements DecisionStore {
  readonly #state: StateDatabase
  readonly #onDiscard: (streamId: string) => void

  constructor({ state, onDiscard }: DecisionStoreNeeds) {
    this.#state = state
    this.#onDiscard = onDiscard
  }

  async position(): Promise<Offset> {
    await this.#state
      .insertInto('consumer_positions')
      .values({ consumer, next_offset: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const row = await this.#state
      .selectFrom('consumer_positions')
      .select('next_offset')
      .where('consumer', '=', consumer)
      .executeTakeFirstOrThrow()
    return row.next_offset
  }

  async commit({ from, nextOffset, tallies }: Decision): Promise<void> {
    const full: string[] = []
    await this.#state.transaction().execute(async (transaction) => {
      await movePosition(transaction, from, nextOffset)
      const rows: CounterRow[] = []
      for (const [streamId, tally] of tallies) {
        const kept =
          tally.refused.length === 0
            ? nothingKept
            : await quarantine(transaction, streamId, tally.refused)
        if (kept.beganToDiscard) full.push(streamId)
        rows.push(counterRow(streamId, tally, kept))
      }
      for (let at = 0; at < rows.length; at += rowsPerInsert) {
        await addToCounters(transaction, rows.slice(at, at + rowsPerInsert))
      }
    })
    for (const streamId of full) this.#onDiscard(streamId)
  }
}

async function movePosition(
  transaction: Transaction<StateSchema>,
  from: Offset,
  next: Offset,
): Promise<void> {
  const { numUpdatedRows } = await transaction
    .updateTable('consumer_positions')
    .set({ next_offset: next })
    .where('consumer', '=', consumer)
    .where('next_offset', '=', from)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw new Error(`another decider has moved on from ${from}`)
}

interface Kept {
  readonly entries: number
  readonly bytes: number
  readonly discarded: number
  readonly beganToDiscard: boolean
}

const nothingKept: Kept = { entries: 0, bytes: 0, discarded: 0, beganToDiscard: false }

/** Keeps refused readings as long as the stream's quarantine has room; what is left is counted. */
async function quarantine(
  transaction: Transaction<StateSchema>,
  streamId: string,
  refused: readonly RefusedEntry[],
): Promise<Kept> {
  const before = await transaction
    .selectFrom('stream_counters')
    .select(['quarantine_entries', 'quarantine_bytes', 'discarded'])
    .where('stream_id', '=', streamId)
    .executeTakeFirst()
  let entries = before?.quarantine_entries ?? 0
  let bytes = before?.quarantine_bytes ?? 0
  const kept: RefusedEntry[] = []
  for (const item of refused) {
    const size = item.entry.payload.byteLength
    if (entries + 1 > quarantineEntriesMax || bytes + size > quarantineBytesMax) continue
    entries++
    bytes += size
    kept.push(item)
  }
  for (let at = 0; at < kept.length; at += rowsPerInsert) {
    const rows = kept.slice(at, at + rowsPerInsert).map((item) => quarantineRow(streamId, item))
    await transaction.insertInto('quarantine').values(rows).execute()
  }
  const discarded = refused.length - kept.length
  return {
    entries: kept.length,
    bytes: bytes - (before?.quarantine_bytes ?? 0),
    discarded,
    beganToDiscard: discarded > 0 && (before?.discarded ?? 0) === 0,
  }
}

function quarantineRow(streamId: string, { offset, entry }: RefusedEntry) {
  const { reason, message, details, source, format = 'json' } = entry.notes
  return {
    stream_id: streamId,
    journal_offset: offset,
    stream_version: entry.streamVersion,
    reason,
    message,
    details: JSON.stringify(details),
    payload: entry.payload,
    timestamp: entry.timestampUs ?? null,
    received_at: entry.receivedAtUs,
    source,
    format,
  }
}

type CounterRow = StateSchema['stream_counters']

function counterRow(streamId: string, tally: StreamTally, kept: Kept): CounterRow {
  return {
    stream_id: streamId,
    received: tally.received,
    accepted: tally.accepted,
    quarantined: kept.entries,
    discarded: kept.discarded,
    quarantine_entries: kept.entries,
    quarantine_bytes: kept.bytes,
    last_received_at: tally.lastReceivedAtUs,
    day: tally.day,
    received_on_day: tally.receivedOnDay,
  }
}

const addedUp = [
  'received',
  'accepted',
  'quarantined',
  'discarded',
  'quarantine_entries',
  'quarantine_bytes',
] as const

async function addToCounters(
  transaction: Transaction<StateSchema>,
  rows: readonly CounterRow[],
): Promise<void> {
  const sums = addedUp.map((column) => [
    column,
    sql<number>`stream_counters.${sql.ref(column)} + excluded.${sql.ref(column)}`,
  ])
  await transaction
    .insertInto('stream_counters')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('stream_id').doUpdateSet({
        ...(Object.fromEntries(sums) as object),
        last_received_at: sql<number>`CASE
          WHEN excluded.last_received_at > stream_counters.last_received_at
          THEN excluded.last_received_at ELSE stream_counters.last_received_at END`,
        received_on_day: sql<number>`CASE
          WHEN excluded.day > stream_counters.day THEN excluded.received_on_day
          WHEN excluded.day = stream_counters.day
          THEN stream_counters.received_on_day + excluded.received_on_day
          ELSE stream_counters.received_on_day END`,
        day: sql<number>`CASE WHEN excluded.day > stream_counters.day
          THEN excluded.day ELSE stream_counters.day END`,
      }),
    )
    .execute()
}
