import type { AssetStreamId, UserId, VaultId } from '../../core/ids.ts'
import type { Permission, Role, SharedType } from '../rights/right.ts'

/** Permissions of one resource. */
export const permissionsOfResourceMax = 1_000

/** Permissions that one owner has granted. */
export const permissionsMax = 200_000

/** Something that its owner shares. */
export interface SharedResource {
  readonly type: SharedType
  readonly id: VaultId | AssetStreamId
  readonly ownerId: UserId
  readonly createdAtUs: number
  /** Empty when it is gone. */
  readonly name: string
}

/** Whom something is shared with. */
export interface Holder {
  readonly id: UserId
  /** Empty for a user who was deleted. */
  readonly username: string
}

/** A permission with what it is shown with. */
export interface ShownPermission extends Permission {
  readonly username: string
}

/** What can be said of a permission, by whoever grants or changes it. */
export interface Terms {
  readonly role: Role
  /** By the wall clock, in microseconds; undefined: no end. */
  readonly expiresAtUs: number | undefined
}

/** Why a permission has ended. */
export type EndReason = 'revoked' | 'expired' | 'user_deleted' | 'resource_deleted'
