import type { AuditLog } from '../../access/audit/audit-log.ts'
import { systemClock } from '../../core/clock.ts'
import { Events } from '../../outbox/events/events.ts'
import { EndsPass } from '../../twins/permissions/ends-pass.ts'
import { PermissionEnds } from '../../twins/permissions/permission-ends.ts'
import { PermissionStore } from '../../twins/permissions/permission-store.ts'
import { UnknownUsers } from '../../twins/permissions/unknown-users.ts'
import type { Engine } from './engine.ts'

export interface SharingNeeds {
  readonly audit: AuditLog
  /** Called with a failure that nobody waits for. */
  readonly onFailure: (error: unknown) => void
}

/** What owners let others do. */
export interface Sharing {
  readonly permissions: PermissionStore
  readonly ends: PermissionEnds
  readonly unknownUsers: UnknownUsers
  /** Goes on with what was left to be ended. */
  readonly start: () => void
  readonly stop: () => Promise<void>
}

/** Composition of permissions, and of what follows when they end. */
export function openSharing(
  { state, worker, lifecycle }: Engine,
  { audit, onFailure }: SharingNeeds,
): Sharing {
  const clock = systemClock
  const events = new Events(state, clock)
  const needs = { state, writer: worker, clock, lifecycle, events, audit }
  const ends = new PermissionEnds(needs)
  const pass = new EndsPass(ends, onFailure)
  return {
    permissions: new PermissionStore(needs),
    ends,
    unknownUsers: new UnknownUsers(),
    start: () => pass.start(),
    stop: () => pass.stop(),
  }
}
