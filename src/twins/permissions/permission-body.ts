import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import type { ShownPermission } from './permission.ts'
import type { streamPermissionSchema, vaultPermissionSchema } from './permission-api.ts'

/** A permission of a vault, as its owner and its holder are shown it. */
export function vaultPermissionBody(
  permission: ShownPermission,
): Static<typeof vaultPermissionSchema> {
  return { ...headOf(permission), vault_id: permission.resourceId, ...termsOf(permission) }
}

/** A permission of an asset stream. */
export function streamPermissionBody(
  permission: ShownPermission,
): Static<typeof streamPermissionSchema> {
  return { ...headOf(permission), stream_id: permission.resourceId, ...termsOf(permission) }
}

/** What `vault.permission_changed` carries. */
export function changedPermissionBody(
  permission: ShownPermission,
  change: 'granted' | 'updated' | 'revoked',
) {
  return {
    permissionId: permission.id,
    vaultId: permission.resourceId,
    userId: permission.userId,
    username: permission.username,
    role: permission.role,
    expiresAt: expiryIn(permission),
    change,
  }
}

function headOf({ id, createdAtUs }: ShownPermission) {
  return { id, created_at: formatUs(createdAtUs) }
}

function termsOf(permission: ShownPermission) {
  return {
    user_id: permission.userId,
    username: permission.username,
    role: permission.role,
    granted_by: permission.grantedBy,
    expires_at: expiryIn(permission),
  }
}

function expiryIn({ expiresAtUs }: ShownPermission): string | null {
  return expiresAtUs === undefined ? null : formatUs(expiresAtUs)
}
