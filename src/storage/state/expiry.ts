import { sql } from 'kysely'
import type { StateDatabase, StateWriter } from './database.ts'
import type { Total } from './totals.ts'

/** Rows that one commit removes: about 20 ms, in which no other change is made. */
const removedMax = 10_000

/** Rows of users that are worth nothing after some time, and are counted. */
export interface Expiring {
  readonly table: 'idempotent_answers' | 'idempotency_keys'
  /** The time that decides, in steady time; an index begins with it. */
  readonly column: 'created_at' | 'remembered_at'
  readonly total: Total
}

/**
 * Removes the oldest of the rows that are not younger than `beforeUs`, and takes them out of the
 * totals. Resolves with whether there are more.
 */
export async function removeExpired(
  { state, writer }: { readonly state: StateDatabase; readonly writer: StateWriter },
  { table, column, total }: Expiring,
  beforeUs: number,
): Promise<boolean> {
  const rows = sql.table(table)
  const time = sql.ref(column)
  const { rows: last } = await sql<{ readonly at: number }>`
    SELECT ${time} AS at FROM ${rows} WHERE ${time} <= ${beforeUs}
    ORDER BY ${time} LIMIT 1 OFFSET ${removedMax - 1}`.execute(state)
  const untilUs = last[0]?.at ?? beforeUs
  await writer.commit(
    state
      .updateTable('totals')
      .set({
        total: sql<number>`total - (SELECT count(*) FROM ${rows}
          WHERE user_id = totals.owner_id AND ${time} <= ${untilUs})`,
      })
      .where('list', '=', total)
      .where(
        'owner_id',
        'in',
        sql<string>`(SELECT user_id FROM ${rows} WHERE ${time} <= ${untilUs})`,
      ),
    state.deleteFrom(table).where(sql<boolean>`${time} <= ${untilUs}`),
  )
  return last.length > 0
}
