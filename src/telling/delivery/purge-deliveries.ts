import { sql } from 'kysely'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'

/** Rows that one commit removes. */
const removedMax = 5_000

/**
 * Removes the oldest of the attempts and deliveries that were made up to then; what waits still is left.
 * Resolves with whether there are more.
 */
export async function purgeDeliveries(
  { state, writer }: { readonly state: StateDatabase; readonly writer: StateWriter },
  beforeUs: number,
): Promise<boolean> {
  const attemptsUntilUs = await lastOfPortion(state, 'delivery_attempts', beforeUs)
  const deliveriesUntilUs = await lastOfPortion(state, 'deliveries', beforeUs)
  if (attemptsUntilUs === undefined && deliveriesUntilUs === undefined) return false
  const isOld = sql<boolean>`attempted_at <= ${attemptsUntilUs ?? 0}`
  await writer.commit(
    ...(['webhooks', 'email_recipients'] as const).map((table) =>
      state
        .updateTable(table)
        .set({
          recorded_attempts: sql<number>`recorded_attempts - (SELECT count(*)
            FROM delivery_attempts WHERE receiver_id = ${sql.ref(`${table}.id`)} AND ${isOld})`,
        })
        .where(
          'id',
          'in',
          state.selectFrom('delivery_attempts').select('receiver_id').where(isOld),
        ),
    ),
    state.deleteFrom('delivery_attempts').where(isOld),
    state
      .deleteFrom('deliveries')
      .where('created_at', '<=', deliveriesUntilUs ?? 0)
      .where('due_at', 'is', null),
  )
  return (attemptsUntilUs ?? beforeUs) < beforeUs || (deliveriesUntilUs ?? beforeUs) < beforeUs
}

/** Time up to which rows belong to the next portion; undefined when none is old enough. */
async function lastOfPortion(
  state: StateDatabase,
  table: 'delivery_attempts' | 'deliveries',
  beforeUs: number,
): Promise<number | undefined> {
  const column = sql.ref(table === 'deliveries' ? 'created_at' : 'attempted_at')
  const isLeft = table === 'deliveries' ? sql`AND due_at IS NULL` : sql``
  const { rows } = await sql<{ readonly first: number | null; readonly last: number | null }>`
    SELECT
      (SELECT ${column} FROM ${sql.table(table)}
        WHERE ${column} <= ${beforeUs} ${isLeft} ORDER BY ${column} LIMIT 1) AS first,
      (SELECT ${column} FROM ${sql.table(table)}
        WHERE ${column} <= ${beforeUs} ${isLeft} ORDER BY ${column}
        LIMIT 1 OFFSET ${removedMax - 1}) AS last`.execute(state)
  if (rows[0]?.first === null) return undefined
  return rows[0]?.last ?? beforeUs
}
