import { type Selectable, sql } from 'kysely'
import type { AssetStreamId, PermissionId, UserId, VaultId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import type { Role, SharedType } from '../rights/right.ts'
import type { ShownPermission } from './permission.ts'

type Row = Selectable<StateSchema['permissions']> & { readonly username: string | null }

/** Permissions with the names of their holders: none of a user who was deleted. */
export function shownRows(state: StateDatabase) {
  return state
    .selectFrom('permissions')
    .leftJoin('users', (join) =>
      join.onRef('users.id', '=', 'permissions.user_id').on('users.deleted_at', 'is', null),
    )
    .selectAll('permissions')
    .select('users.username')
}

/** A permission, made of what is stored. */
export function fromRow(row: Row): ShownPermission {
  return {
    id: row.id as PermissionId,
    type: row.resource_type as SharedType,
    resourceId: row.resource_id as VaultId | AssetStreamId,
    ownerId: row.owner_id as UserId,
    userId: row.user_id as UserId,
    username: row.username ?? '',
    role: row.role as Role,
    grantedBy: row.granted_by as UserId,
    createdAtUs: row.created_at,
    // What something else has ended has no time of its own any more.
    expiresAtUs: row.ended_by === null ? (row.expires_at ?? undefined) : undefined,
  }
}

/** The owner's resource as it is now, for a statement that is about it. */
export function resourceTable(type: SharedType) {
  return sql.table(type === 'vault' ? 'vaults' : 'asset_streams')
}
