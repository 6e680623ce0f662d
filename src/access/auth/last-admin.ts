import { type Expression, type SqlBool, sql } from 'kysely'
import type { StateDatabase } from '../../storage/state/database.ts'

/** What is about to end. */
export type Ending = { readonly withoutUser: string } | { readonly withoutKey: string }

/**
 * The condition that somebody with `platform:admin` remains, for the statement that ends a key or a
 * user: two that end at the same moment must not each count on the other. A key that expires is not
 * counted on, and what has no such key may always end.
 */
export function anotherAdminRemains(state: StateDatabase, ending: Ending): Expression<SqlBool> {
  const admins = state
    .selectFrom('api_keys')
    .select('id')
    .where('revoked_at', 'is', null)
    .where(sql<SqlBool>`' ' || scopes || ' ' like '% platform:admin %'`)
  const permanent = admins.where('expires_at', 'is', null)
  const [ends, remains] =
    'withoutUser' in ending
      ? [
          admins.where('user_id', '=', ending.withoutUser),
          permanent.where('user_id', '!=', ending.withoutUser),
        ]
      : [admins.where('id', '=', ending.withoutKey), permanent.where('id', '!=', ending.withoutKey)]
  return sql<SqlBool>`(not exists ${ends} or exists ${remains})`
}
