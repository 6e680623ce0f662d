import type { StreamId, UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** Ids or names that are looked for in one statement. */
const perStatement = 500

/** Which of these streams this owner has. */
export async function ownStreamIds(
  state: StateDatabase,
  ownerId: UserId,
  ids: readonly StreamId[],
): Promise<ReadonlySet<StreamId>> {
  const found = new Set<StreamId>()
  for (let from = 0; from < ids.length; from += perStatement) {
    const rows = await state
      .selectFrom('data_streams')
      .select('id')
      .where('owner_id', '=', ownerId)
      .where('id', 'in', ids.slice(from, from + perStatement))
      .execute()
    for (const { id } of rows) found.add(id as StreamId)
  }
  return found
}

/** The first of these streams that this owner does not have. */
export async function missingStream(
  state: StateDatabase,
  ownerId: UserId,
  ids: readonly StreamId[],
): Promise<StreamId | undefined> {
  const own = await ownStreamIds(state, ownerId, ids)
  return ids.find((id) => !own.has(id))
}

/** The streams of this owner that have one of these names: several may have the same. */
export async function streamsNamed(
  state: StateDatabase,
  ownerId: UserId,
  names: readonly string[],
): Promise<ReadonlyMap<string, readonly StreamId[]>> {
  const found = new Map<string, StreamId[]>()
  for (let from = 0; from < names.length; from += perStatement) {
    const rows = await state
      .selectFrom('data_streams')
      .select(['id', 'name'])
      .where('owner_id', '=', ownerId)
      .where('name', 'in', names.slice(from, from + perStatement))
      .execute()
    for (const { id, name } of rows) {
      found.set(name, [...(found.get(name) ?? []), id as StreamId])
    }
  }
  return found
}
