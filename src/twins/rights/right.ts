import { DomainError } from '../../core/errors.ts'
import type { AssetStreamId, PermissionId, UserId, VaultId } from '../../core/ids.ts'

/** What others may be let do. */
export const roles = ['READ', 'WRITE'] as const

export type Role = (typeof roles)[number]

/** What can be shared; an attachment goes with its asset stream. */
export type SharedType = 'vault' | 'asset_stream'

/** What a user may do with something that the user sees: all, change it, or look at it. */
export type Right = 'own' | 'write' | 'read'

/** Something as one user sees it. */
export interface Seen {
  readonly ownerId: UserId
  readonly right: Right
}

/** What an owner lets somebody else do. */
export interface Permission {
  readonly id: PermissionId
  readonly type: SharedType
  readonly resourceId: VaultId | AssetStreamId
  readonly ownerId: UserId
  /** Who may do it. */
  readonly userId: UserId
  readonly role: Role
  readonly grantedBy: UserId
  readonly createdAtUs: number
  /** By the wall clock, in microseconds. */
  readonly expiresAtUs: number | undefined
}

/** The right of whoever sees something: by its owner, and what a permission says, if there is one. */
export function rightOf(userId: UserId, ownerId: UserId, role: string | null): Right {
  if (ownerId === userId) return 'own'
  return role === 'WRITE' ? 'write' : 'read'
}

/**
 * For what only the owner may do. What one cannot see at all is 404 (decisions.md#what-others-show).
 *
 * @throws DomainError `insufficient_permissions`
 */
export function assertOwned({ right }: Pick<Seen, 'right'>, what: string): void {
  if (right === 'own') return
  throw new DomainError(
    'insufficient_permissions',
    `you can see this ${what}, but only its owner can do that`,
    { remedy: 'Ask its owner, or use a key of the owner; GET /users says whose key is in use.' },
  )
}

/**
 * For what the owner may do, and whoever has a permission to write.
 *
 * @throws DomainError `insufficient_permissions`
 */
export function assertWritable({ right }: Pick<Seen, 'right'>, what: string): void {
  if (right !== 'read') return
  throw new DomainError(
    'insufficient_permissions',
    `you can see this ${what}, but not change it: that takes a permission to WRITE`,
    {
      remedy:
        'Ask its owner for a permission with the role WRITE: POST /vaults/{vaultId}/permissions gives it.',
    },
  )
}
