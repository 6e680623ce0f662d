import { type RawBuilder, sql } from 'kysely'
import type { AgeClock } from '../../core/age-clock.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { lists } from '../../storage/state/totals.ts'

/** What a request of the user had begun is over by then, and so is what is remembered of it for repetitions. */
const restUs = 24 * 3_600 * 1_000_000

/** Users who are looked at in one transaction: what somebody decides or stores has to wait for it. */
const usersPerTransaction = 200

export interface UserRemainsNeeds {
  readonly state: StateDatabase
  readonly ages: AgeClock
}

/** Tables in which a row keeps the row of its owner, and the column that names the owner. */
const keeping = [
  ['api_keys', 'user_id'],
  ['templates', 'owner_id'],
  ['vaults', 'owner_id'],
  ['asset_streams', 'owner_id'],
  ['attachments', 'owner_id'],
  ['data_streams', 'owner_id'],
  ['fleets', 'owner_id'],
  ['devices', 'owner_id'],
  ['provisioning_keys', 'owner_id'],
  ['user_entities', 'user_id'],
  ['user_credentials', 'user_id'],
  ['inboxes', 'owner_id'],
  ['export_jobs', 'owner_id'],
  ['import_jobs', 'owner_id'],
  ['permissions', 'owner_id'],
  ['permissions', 'user_id'],
] as const

/**
 * Removes what is left of users who were deleted a day ago or earlier, and own nothing any more: favourites, numbers
 * that were counted for them, the marks of an inbox that is empty, and last the row of the user. A user who has left
 * something behind keeps the row, because it says that nobody is to see it.
 */
export async function removeUserRemains({ state, ages }: UserRemainsNeeds): Promise<void> {
  const beforeUs = ages.nowUs() - restUs
  let after = ''
  for (;;) {
    const rows = await state
      .selectFrom('users')
      .select('id')
      .where('deleted_at', '<', beforeUs)
      .where('id', '>', after)
      .orderBy('id')
      .limit(usersPerTransaction)
      .execute()
    const ids = rows.map(({ id }) => id)
    const last = ids.at(-1)
    if (last === undefined) return
    await removeOf(state, ids)
    after = last
  }
}

async function removeOf(state: StateDatabase, ids: readonly string[]): Promise<void> {
  await state.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('favorites').where('owner_id', 'in', ids).execute()
    await transaction
      .deleteFrom('totals')
      .where('list', 'in', lists)
      .where('owner_id', 'in', ids)
      .execute()
    await transaction
      .deleteFrom('inboxes')
      .where('owner_id', 'in', ids)
      .where(hasNone('inbox_entries', 'owner_id', 'inboxes.owner_id'))
      .execute()
    let users = transaction.deleteFrom('users').where('id', 'in', ids)
    for (const [table, column] of keeping) users = users.where(hasNone(table, column, 'users.id'))
    await users.execute()
  })
}

function hasNone(table: string, column: string, owner: string): RawBuilder<boolean> {
  return sql<boolean>`NOT EXISTS (SELECT 1 FROM ${sql.table(table)}
    WHERE ${sql.ref(`${table}.${column}`)} = ${sql.ref(owner)})`
}
