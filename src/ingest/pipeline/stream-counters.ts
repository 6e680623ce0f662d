import { CompiledQuery, type Insertable, sql, type Transaction } from 'kysely'
import type { StateSchema } from '../../storage/state/schema.ts'
import { noDifference, type QuarantineDifference } from './quarantine-changes.ts'
import type { StreamTally } from './tallies.ts'

type CounterRow = Insertable<StateSchema['stream_counters']>
type ColumnName = keyof CounterRow

/** Columns that readings which were accepted, or filtered, add to: nearly all readings. */
const usualColumns = [
  'stream_id',
  'received',
  'accepted',
  'filtered',
  'last_received_at',
  'day',
  'received_on_day',
] as const satisfies readonly ColumnName[]

/** Columns that refused readings, and alerts, add to. */
const furtherColumns = [
  'quarantined',
  'quarantine_bytes',
  'discarded',
  'is_discarding',
  'alert_time',
  'alert_received_at',
  'late_for_alerts',
] as const satisfies readonly ColumnName[]

const allColumns = [...usualColumns, ...furtherColumns]

/** Columns that only go up; the days aside, all others are added up. */
const newest: readonly ColumnName[] = ['last_received_at', 'alert_time', 'alert_received_at']
const ofDays: readonly ColumnName[] = ['day', 'received_on_day']

/**
 * Rows of the largest INSERT, a power of two: SQLite takes 32,766 parameters in a statement. What is
 * left over goes by smaller powers, so that there are few statements, and all of them are kept.
 */
const rowsPerInsertMax = 256

/** What a stretch of the journal adds to the counters of streams, which may be thousands. */
export class CounterAdditions {
  /** Values of rows, one after the other. */
  readonly #usual: (string | number)[] = []
  readonly #all: (string | number)[] = []

  /** Each stream once. */
  add(tally: StreamTally, difference: QuarantineDifference): void {
    const { streamId, received, accepted, filtered, lastReceivedAtUs, day, receivedOnDay, alerts } =
      tally
    // Entries about alerts count nothing, and their stream may be gone: it gets no row then.
    if (received === 0 && difference === noDifference && alerts === undefined) return
    const isUsual = difference === noDifference && alerts === undefined
    const values = isUsual ? this.#usual : this.#all
    const { entries, bytes, discarded, unknown, discarding } = difference
    values.push(streamId, received + unknown, accepted, filtered, lastReceivedAtUs)
    values.push(day, receivedOnDay)
    if (isUsual) return
    values.push(entries, bytes, discarded, discarding)
    values.push(alerts?.timeUs ?? 0, alerts?.receivedAtUs ?? 0, alerts?.late ?? 0)
  }

  /** Adds them to what there is. */
  async write(transaction: Transaction<StateSchema>): Promise<void> {
    for (const [columns, values] of [
      [usualColumns, this.#usual],
      [allColumns, this.#all],
    ] as const) {
      let at = 0
      for (let rows = rowsPerInsertMax; rows >= 1; rows /= 2) {
        const size = rows * columns.length
        for (; values.length - at >= size; at += size) {
          const text = additionOf(transaction, columns, rows)
          await transaction.executeQuery(CompiledQuery.raw(text, values.slice(at, at + size)))
        }
      }
    }
  }
}

/** By their parameters. To build one of thousands takes longer than to run it. */
const statements = new Map<string, string>()

function additionOf(
  transaction: Transaction<StateSchema>,
  columns: readonly ColumnName[],
  rows: number,
): string {
  const key = `${columns.length} columns, ${rows} rows`
  let text = statements.get(key)
  if (text === undefined) {
    text = builtAddition(transaction, columns, rows)
    statements.set(key, text)
  }
  return text
}

function builtAddition(
  transaction: Transaction<StateSchema>,
  columns: readonly ColumnName[],
  rows: number,
): string {
  // Only the number of the values is of interest here; a new row has 0 in the columns that are left out.
  const left = furtherColumns.filter((column) => !columns.includes(column))
  const row = Object.fromEntries([
    ...columns.map((column) => [column, '']),
    ...left.map((column) => [column, sql.lit(0)]),
  ]) as CounterRow
  return transaction
    .insertInto('stream_counters')
    .values(Array.from({ length: rows }, () => row))
    .onConflict((conflict) =>
      conflict.column('stream_id').doUpdateSet(Object.fromEntries(columns.flatMap(changeOf))),
    )
    .compile().sql
}

/** How a column of a stream that is there changes. */
function changeOf(column: ColumnName) {
  if (column === 'stream_id') return []
  const [before, after] = [sql.ref(`stream_counters.${column}`), sql.ref(`excluded.${column}`)]
  if (ofDays.includes(column)) return [[column, changeOfDay(column)]]
  const larger = sql<number>`CASE WHEN ${after} > ${before} THEN ${after} ELSE ${before} END`
  return [[column, newest.includes(column) ? larger : sql<number>`${before} + ${after}`]]
}

/** Readings are counted for the newest day only. */
function changeOfDay(column: ColumnName) {
  return column === 'day'
    ? sql<number>`CASE WHEN excluded.day > stream_counters.day
        THEN excluded.day ELSE stream_counters.day END`
    : sql<number>`CASE
        WHEN excluded.day > stream_counters.day THEN excluded.received_on_day
        WHEN excluded.day = stream_counters.day
        THEN stream_counters.received_on_day + excluded.received_on_day
        ELSE stream_counters.received_on_day END`
}
