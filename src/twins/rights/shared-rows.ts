import { type RawBuilder, sql } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import type { SharedType } from './right.ts'

/** The role that a user has with a resource at some time, for a statement about the resource: null without one. */
export function roleOf(
  userId: UserId | RawBuilder<string>,
  resourceId: RawBuilder<string>,
  nowUs: number,
): RawBuilder<string | null> {
  return sql`(SELECT role FROM permissions
    WHERE permissions.resource_id = ${resourceId} AND permissions.user_id = ${userId} AND ${isInForce(nowUs)})`
}

/** The ids of what is shared with a user. */
export function sharedWith(userId: UserId, type: SharedType, nowUs: number): RawBuilder<string> {
  return sql`SELECT resource_id FROM permissions
    WHERE user_id = ${userId} AND resource_type = ${type} AND ${isInForce(nowUs)}`
}

/** Whether a permission counts at some time. */
export function isInForce(nowUs: number): RawBuilder<boolean> {
  return sql`(permissions.expires_at IS NULL OR permissions.expires_at > ${nowUs})`
}
