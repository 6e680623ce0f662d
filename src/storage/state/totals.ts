import { type Compilable, sql } from 'kysely'
import type { StateDatabase } from './database.ts'

/** Lists that are counted while they change, because counting their rows would take too long. */
export const lists = [
  'users',
  'templates',
  'public_templates',
  'vaults',
  'favorites',
  'idempotent_answers',
  'receipts',
  'devices',
  'asset_streams',
  'attachments',
  /** By asset stream instead of by user. */
  'attachments_of_stream',
  /** By attachment instead of by user. */
  'signatures_of_attachment',
  /** By asset stream instead of by user. */
  'assets_of_stream',
  /** What a user lets others do. */
  'permissions',
  /** Vaults and asset streams that others share with a user. */
  'shared_vaults',
  'shared_asset_streams',
  'fleets',
  /** Streams of the devices of a fleet: by fleet instead of by user. */
  'streams_of_fleet',
  /** Bytes of the files of a user. */
  'file_bytes',
] as const

export type Total = (typeof lists)[number]

/** The owner of a list that everybody shares. */
export const everybody = ''

/** Part of every commit that adds a row to what is counted, or takes one away. */
export function countChange(
  state: StateDatabase,
  list: Total,
  ownerId: string,
  difference: number,
): Compilable {
  return state
    .insertInto('totals')
    .values({ list, owner_id: ownerId, total: difference })
    .onConflict((conflict) =>
      conflict
        .columns(['list', 'owner_id'])
        .doUpdateSet({ total: sql<number>`totals.total + ${difference}` }),
    )
}

export async function totalOf(state: StateDatabase, list: Total, ownerId: string): Promise<number> {
  const row = await state
    .selectFrom('totals')
    .select('total')
    .where('list', '=', list)
    .where('owner_id', '=', ownerId)
    .executeTakeFirst()
  return row?.total ?? 0
}

/** For the condition of a change: whether a total is still below a limit. */
export function isBelow(list: Total, ownerId: string, limit: number) {
  return sql<boolean>`coalesce((SELECT total FROM totals WHERE list = ${list} AND owner_id = ${ownerId}), 0) < ${limit}`
}
