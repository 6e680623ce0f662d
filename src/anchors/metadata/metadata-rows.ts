import type { Compilable } from 'kysely'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Metadata } from './encode-metadata.ts'

/** The change that keeps the metadata of a resource. */
export function keptMetadata(
  state: StateDatabase,
  resourceId: string,
  { cid, bytes }: Metadata,
): Compilable {
  return state.insertInto('metadata').values({ resource_id: resourceId, cid, bytes })
}

/** The metadata of a resource; undefined where there are none. */
export async function metadataOf(
  state: StateDatabase,
  resourceId: string,
): Promise<Metadata | undefined> {
  return await state
    .selectFrom('metadata')
    .select(['cid', 'bytes'])
    .where('resource_id', '=', resourceId)
    .executeTakeFirst()
}
