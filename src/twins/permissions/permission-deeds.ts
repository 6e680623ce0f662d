import { type Compilable, type Expression, type SqlBool, sql } from 'kysely'
import type { Actor, AuditAction, AuditLog } from '../../access/audit/audit-log.ts'
import type { UserId } from '../../core/ids.ts'
import type { Events } from '../../outbox/events/events.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { EndReason, SharedResource, ShownPermission } from './permission.ts'
import {
  changedPermissionBody,
  streamPermissionBody,
  vaultPermissionBody,
} from './permission-body.ts'

/** What has become of a permission. */
export interface PermissionDeed {
  readonly deed: 'granted' | 'updated' | 'revoked'
  /** As it is after it. */
  readonly permission: ShownPermission
  readonly resource: Pick<SharedResource, 'name'>
  /** Undefined when it has ended by itself. */
  readonly actor: Actor | undefined
  /** Why it has ended. */
  readonly reason?: EndReason
}

export interface PermissionDeedsNeeds {
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly events: Pick<Events, 'record'>
  readonly audit: Pick<AuditLog, 'entry'>
}

const audited = {
  granted: 'permission.granted',
  updated: 'permission.changed',
  revoked: 'permission.ended',
} as const satisfies Record<PermissionDeed['deed'], AuditAction>

/**
 * The changes that write down what has become of a permission, for the transaction of it: in the audit log, and for
 * its owner and its holder, each as far as there is such a user.
 *
 * @throws DomainError `overloaded` when too many events wait already
 */
export function writtenDown(
  needs: PermissionDeedsNeeds,
  deed: PermissionDeed,
): readonly Compilable[] {
  const { permission, actor, reason } = deed
  const { id, type, resourceId, ownerId, userId, role } = permission
  const entry = needs.audit.entry({
    action: audited[deed.deed],
    actor,
    subjectId: id,
    // The share of the owner: to share something washes away what is told of nobody else.
    userId: ownerId,
    details: { type, resourceId, userId, role, ...(reason && { reason }) },
  })
  return [entry, ...[ownerId, userId].flatMap((told) => toldTo(told, needs, deed))]
}

function toldTo(
  ownerId: UserId,
  { lifecycle, events }: PermissionDeedsNeeds,
  { deed, permission, resource, actor }: PermissionDeed,
): readonly Compilable[] {
  const when = isThere(ownerId)
  const { id, type, resourceId } = permission
  const happened = { ownerId, resourceId: id, name: resource.name, actor }
  if (type === 'asset_stream') {
    const notice = { streamId: resourceId, data: streamPermissionBody(permission) }
    return lifecycle.record({ event: `asset_stream.permission.${deed}`, ...happened, notice }, when)
  }
  const vaultId = resourceId
  const notice = { vaultId, data: vaultPermissionBody(permission) }
  return [
    ...lifecycle.record({ event: `vault.permission.${deed}`, ...happened, notice }, when),
    ...events.record(
      {
        type: 'vault.permission_changed',
        ownerId,
        resourceType: 'vault_permission',
        resourceId: id,
        vaultId,
        data: changedPermissionBody(permission, deed),
        isQuiet: true,
      },
      when,
    ),
  ]
}

/** The condition that a user was not deleted. */
export function isThere(userId: UserId): Expression<SqlBool> {
  return sql<SqlBool>`EXISTS (SELECT 1 FROM users WHERE id = ${userId} AND deleted_at IS NULL)`
}
