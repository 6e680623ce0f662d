import { CompiledQuery, type Insertable, sql, type Transaction } from 'kysely'
import type { StateSchema } from '../state/schema.ts'
import type { StreamTally } from './decider.ts'
import type { QuarantineDifference } from './quarantine-changes.ts'

export type CounterRow = Insertable<StateSchema['stream_counters']>

/** What a stretch of the journal adds to the counters of a stream. */
export function counterRow(
  streamId: string,
  tally: StreamTally,
  { entries, bytes, discarded, unknown, discarding }: QuarantineDifference,
): CounterRow {
  return {
    stream_id: streamId,
    received: tally.received + unknown,
    accepted: tally.accepted,
    filtered: tally.filtered,
    quarantined: entries,
    quarantine_bytes: bytes,
    discarded,
    is_discarding: discarding,
    last_received_at: tally.lastReceivedAtUs,
    day: tally.day,
    received_on_day: tally.receivedOnDay,
    alert_time: tally.alerts?.timeUs ?? 0,
    alert_received_at: tally.alerts?.receivedAtUs ?? 0,
    late_for_alerts: tally.alerts?.late ?? 0,
  }
}

/** All of them: one that is left out would stay as it is. */
const isColumn: Readonly<Record<keyof CounterRow, true>> = {
  stream_id: true,
  received: true,
  accepted: true,
  filtered: true,
  quarantined: true,
  quarantine_bytes: true,
  discarded: true,
  is_discarding: true,
  last_received_at: true,
  day: true,
  received_on_day: true,
  alert_time: true,
  alert_received_at: true,
  late_for_alerts: true,
}

/** In the order of the parameters of a statement. */
const columns = Object.keys(isColumn) as readonly (keyof CounterRow)[]

const addedUp = [
  'received',
  'accepted',
  'filtered',
  'quarantined',
  'discarded',
  'quarantine_bytes',
  'is_discarding',
  'late_for_alerts',
] as const

/** What only goes up. */
const newest = ['last_received_at', 'alert_time', 'alert_received_at'] as const

/** Adds rows of different streams to what there is of these streams. */
export async function addToCounters(
  transaction: Transaction<StateSchema>,
  rows: readonly CounterRow[],
): Promise<void> {
  let at = 0
  for (let size = rowsPerInsertMax; size >= 1; size /= 2) {
    for (; rows.length - at >= size; at += size) {
      await transaction.executeQuery(addition(transaction, rows.slice(at, at + size)))
    }
  }
}

/**
 * Rows of the largest INSERT, a power of two: SQLite takes 32,766 parameters in a statement. What is
 * left over goes by smaller powers, so that there are few statements, and all of them are kept.
 */
const rowsPerInsertMax = 256

/** By their numbers of rows. To build one of thousands of values takes longer than to run it. */
const statements = new Map<number, string>()

function addition(transaction: Transaction<StateSchema>, rows: readonly CounterRow[]) {
  let text = statements.get(rows.length)
  if (text === undefined) {
    text = builtAddition(transaction, rows).sql
    statements.set(rows.length, text)
  }
  const values = rows.flatMap((row) => columns.map((name) => row[name]))
  return CompiledQuery.raw(text, values)
}

function builtAddition(transaction: Transaction<StateSchema>, rows: readonly CounterRow[]) {
  const sums = addedUp.map((column) => [
    column,
    sql<number>`stream_counters.${sql.ref(column)} + excluded.${sql.ref(column)}`,
  ])
  const maxima = newest.map((column) => {
    const [before, after] = [sql.ref(`stream_counters.${column}`), sql.ref(`excluded.${column}`)]
    return [column, sql<number>`CASE WHEN ${after} > ${before} THEN ${after} ELSE ${before} END`]
  })
  return transaction
    .insertInto('stream_counters')
    .values(
      rows.map((row) => Object.fromEntries(columns.map((name) => [name, row[name]])) as CounterRow),
    )
    .onConflict((conflict) =>
      conflict.column('stream_id').doUpdateSet({
        ...(Object.fromEntries([...sums, ...maxima]) as object),
        received_on_day: sql<number>`CASE
          WHEN excluded.day > stream_counters.day THEN excluded.received_on_day
          WHEN excluded.day = stream_counters.day
          THEN stream_counters.received_on_day + excluded.received_on_day
          ELSE stream_counters.received_on_day END`,
        day: sql<number>`CASE WHEN excluded.day > stream_counters.day
          THEN excluded.day ELSE stream_counters.day END`,
      }),
    )
    .compile()
}
