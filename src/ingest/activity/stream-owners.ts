import { sql } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** Streams of one look: all that there are come at once after a start. */
const idsPerLook = 1_000

/** Whose streams these are; those that are gone are left out. */
export async function streamOwners(
  state: StateDatabase,
  streamIds: readonly string[],
): Promise<ReadonlyMap<string, UserId>> {
  const owners = new Map<string, UserId>()
  for (let from = 0; from < streamIds.length; from += idsPerLook) {
    const some = JSON.stringify(streamIds.slice(from, from + idsPerLook))
    const rows = await state
      .selectFrom('data_streams')
      .select(['id', 'owner_id'])
      .where('id', 'in', sql<string>`(SELECT value FROM json_each(${some}))`)
      .execute()
    for (const { id, owner_id } of rows) owners.set(id, owner_id as UserId)
  }
  return owners
}
