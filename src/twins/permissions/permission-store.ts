import { type Compilable, sql } from 'kysely'
import type { Actor } from '../../access/audit/audit-log.ts'
import type { Clock } from '../../core/clock.ts'
import { newId, type PermissionId, type UserId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { Slice } from '../../storage/state/listing.ts'
import { countChange, isBelow, totalOf } from '../../storage/state/totals.ts'
import { isInForce, sharedLists } from '../rights/shared-rows.ts'
import {
  type Holder,
  permissionsMax,
  permissionsOfResourceMax,
  type SharedResource,
  type ShownPermission,
  type Terms,
} from './permission.ts'
import { isThere, type PermissionDeedsNeeds, writtenDown } from './permission-deeds.ts'
import { endOf } from './permission-ends.ts'
import { fromRow, resourceTable, shownRows } from './permission-rows.ts'

export interface PermissionStoreNeeds extends PermissionDeedsNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
}

export interface PermissionPage {
  readonly items: readonly ShownPermission[]
  readonly total: number
}

/** What owners let others do. One whose time is over is none, whether or not its row is still there. */
export class PermissionStore {
  readonly #needs: PermissionStoreNeeds

  constructor(needs: PermissionStoreNeeds) {
    this.#needs = needs
  }

  /** A user by name, in whatever case. */
  async userNamed(username: string): Promise<Holder | undefined> {
    const row = await this.#needs.state
      .selectFrom('users')
      .select(['id', 'username'])
      .where(sql<string>`lower(username)`, '=', username.toLowerCase())
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    return row && { id: row.id as UserId, username: row.username }
  }

  /**
   * A new permission, and the changes that grant it. They find nothing to change when the resource, its owner or the
   * user is gone, the user has one already, or there are too many.
   */
  plan(
    resource: SharedResource,
    { holder, ...terms }: Terms & { readonly holder: Holder },
    actor: Actor,
  ): { readonly permission: ShownPermission; readonly changes: readonly Compilable[] } {
    const { state, clock } = this.#needs
    const { type, id: resourceId, ownerId } = resource
    const permission: ShownPermission = {
      ...terms,
      id: newId<PermissionId>(),
      type,
      resourceId,
      ownerId,
      userId: holder.id,
      username: holder.username,
      grantedBy: ownerId,
      createdAtUs: clock.nowUs(),
    }
    return {
      permission,
      changes: [
        this.#insertion(permission),
        countChange(state, 'permissions', ownerId, 1),
        countChange(state, sharedLists[type], holder.id, 1),
        ...writtenDown(this.#needs, { deed: 'granted', permission, resource, actor }),
      ],
    }
  }

  #insertion(permission: ShownPermission): Compilable {
    const { id, type, resourceId, ownerId, userId, createdAtUs } = permission
    return this.#needs.state
      .insertInto('permissions')
      .columns([
        'id',
        'resource_type',
        'resource_id',
        'resource_created_at',
        'owner_id',
        'user_id',
        'role',
        'granted_by',
        'created_at',
        'expires_at',
      ])
      .expression(
        sql`SELECT ${id}, ${type}, id, created_at, owner_id, ${userId}, ${permission.role}, ${permission.grantedBy},
                ${createdAtUs}, ${permission.expiresAtUs ?? null}
              FROM ${resourceTable(type)}
              WHERE id = ${resourceId} AND owner_id = ${ownerId} AND ${isThere(ownerId)} AND ${isThere(userId)}
                AND NOT EXISTS (
                  SELECT 1 FROM permissions WHERE resource_id = ${resourceId} AND user_id = ${userId})
                AND ${isBelow('permissions', ownerId, permissionsMax)}
                AND ${permissionsOfResourceMax} > (
                  SELECT count(*) FROM permissions
                  WHERE resource_id = ${resourceId} AND ${isInForce(createdAtUs)})`,
      )
  }

  async hasRoom(ownerId: UserId): Promise<boolean> {
    return (await totalOf(this.#needs.state, 'permissions', ownerId)) < permissionsMax
  }

  /** A page of all of a resource, oldest first: few enough to be counted. */
  async listPage({ id }: SharedResource, { offset, limit }: Slice): Promise<PermissionPage> {
    const nowUs = this.#needs.clock.nowUs()
    const rows = await shownRows(this.#needs.state)
      .where('resource_id', '=', id)
      .where(isInForce(nowUs))
      .orderBy('permissions.created_at')
      .orderBy('permissions.id')
      .execute()
    return { items: rows.slice(offset, offset + limit).map(fromRow), total: rows.length }
  }

  async find({ id: resourceId }: SharedResource, id: PermissionId) {
    return await this.#findOne(resourceId, ['permissions.id', id])
  }

  /** The one that a user has with a resource. */
  async findOf({ id: resourceId }: SharedResource, userId: UserId) {
    return await this.#findOne(resourceId, ['permissions.user_id', userId])
  }

  async #findOne(
    resourceId: string,
    [column, value]: readonly ['permissions.id' | 'permissions.user_id', string],
  ): Promise<ShownPermission | undefined> {
    const row = await shownRows(this.#needs.state)
      .where('resource_id', '=', resourceId)
      .where(column, '=', value)
      .where(isInForce(this.#needs.clock.nowUs()))
      .executeTakeFirst()
    return row && fromRow(row)
  }

  /** Changes what one says. Undefined when it is not what it was any more. */
  async change(
    resource: SharedResource,
    { permission, terms }: { readonly permission: ShownPermission; readonly terms: Terms },
    actor: Actor,
  ): Promise<ShownPermission | undefined> {
    const { state, writer, clock } = this.#needs
    const changed = { ...permission, ...terms }
    const isMade = await writer.attempt(
      state
        .updateTable('permissions')
        .set({ role: terms.role, expires_at: terms.expiresAtUs ?? null })
        .where('id', '=', permission.id)
        .where('role', '=', permission.role)
        .where('expires_at', 'is', permission.expiresAtUs ?? null)
        .where(isInForce(clock.nowUs())),
      ...writtenDown(this.#needs, { deed: 'updated', permission: changed, resource, actor }),
    )
    return isMade ? changed : undefined
  }

  /** Ends one before its time. False when it has ended meanwhile. */
  async revoke(
    resource: SharedResource,
    permission: ShownPermission,
    actor: Actor,
  ): Promise<boolean> {
    const { writer, clock } = this.#needs
    const end = { permission, resource, actor, reason: 'revoked' } as const
    return await writer.attempt(...endOf(this.#needs, end, isInForce(clock.nowUs())))
  }
}
