import { type Compilable, type Expression, type Selectable, type SqlBool, sql } from 'kysely'
import type { Actor, AuditLog } from '../../access/audit/audit-log.ts'
import { anotherAdminRemains } from '../../access/auth/last-admin.ts'
import type { Clock } from '../../core/clock.ts'
import { conflict } from '../../core/conflict.ts'
import { newId, type UserId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { Slice } from '../../storage/state/listing.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { countChange, everybody, type Total, totalOf } from '../../storage/state/totals.ts'
import type { NewUser, User } from './user.ts'

export interface UserStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
  readonly audit: AuditLog
}

export class UserStore {
  readonly #needs: UserStoreNeeds

  constructor(needs: UserStoreNeeds) {
    this.#needs = needs
  }

  /** A new user, and the changes that store one: none can be made when the name is taken. */
  plan(
    actor: Actor,
    user: NewUser,
  ): { readonly user: User; readonly changes: readonly Compilable[] } {
    const { state, clock, audit } = this.#needs
    const id = newId<UserId>()
    const createdAtUs = clock.nowUs()
    const changes = [
      state
        .insertInto('users')
        .values({
          id,
          username: user.username,
          first_name: user.firstName,
          last_name: user.lastName,
          created_at: createdAtUs,
        })
        .onConflict((same) => same.doNothing()),
      countChange(state, 'users', everybody, 1),
      audit.entry({ action: 'user.created', actor, subjectId: id, userId: id }),
    ]
    return { user: { ...user, id, createdAtUs, imageCid: '', imageUploads: 0 }, changes }
  }

  /** A user who has not been deleted. */
  async find(id: UserId): Promise<User | undefined> {
    const row = await this.#present().selectAll().where('id', '=', id).executeTakeFirst()
    return row && fromRow(row)
  }

  async has(id: UserId): Promise<boolean> {
    return (await this.find(id)) !== undefined
  }

  /** All users, or the one of this name in whatever case, in the order of their creation. */
  async list({ offset, limit }: Slice, username?: string): Promise<User[]> {
    const rows = await this.#named(username)
      .selectAll()
      .orderBy('created_at')
      .orderBy('id')
      .offset(offset)
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  }

  async count(username?: string): Promise<number> {
    if (username === undefined) return await totalOf(this.#needs.state, 'users', everybody)
    // A name is had by one user at most.
    return (await this.#named(username).select('id').executeTakeFirst()) ? 1 : 0
  }

  /**
   * Ends a user: keys and webhooks are gone, the profile is erased, and the username is free again. What the
   * user owned stays where it is, seen by nobody; what was public stays public.
   *
   * @throws DomainError `conflict` when nobody with `platform:admin` would remain
   */
  async delete(actor: Actor, id: UserId): Promise<void> {
    const { state, writer, clock, audit } = this.#needs
    const deletedAtUs = clock.nowUs()
    const isDeletedNow = this.#exists(id, deletedAtUs)
    await writer.commit(
      state
        .updateTable('users')
        // No username can have a colon, so this one is in nobody's way.
        .set({
          username: `deleted:${id}`,
          first_name: '',
          last_name: '',
          image_cid: '',
          deleted_at: deletedAtUs,
        })
        .where('id', '=', id)
        .where('deleted_at', 'is', null)
        .where(anotherAdminRemains(state, { withoutUser: id })),
      state
        .updateTable('api_keys')
        .set({ revoked_at: deletedAtUs })
        .where('user_id', '=', id)
        .where('origin', '!=', 'api')
        .where(isDeletedNow),
      // Bootstrap keys stay known as revoked, so that no later start brings them back.
      state
        .deleteFrom('api_keys')
        .where('user_id', '=', id)
        .where('origin', '=', 'api')
        .where(isDeletedNow),
      state
        .deleteFrom('device_streams')
        .where(
          'device_id',
          'in',
          state.selectFrom('devices').select('id').where('owner_id', '=', id),
        )
        .where(isDeletedNow),
      state.deleteFrom('devices').where('owner_id', '=', id).where(isDeletedNow),
      state.deleteFrom('provisioning_keys').where('owner_id', '=', id).where(isDeletedNow),
      this.#endFleets(id, deletedAtUs, isDeletedNow),
      ...this.#endDeliveries(id, isDeletedNow),
      state.deleteFrom('user_entities').where('user_id', '=', id).where(isDeletedNow),
      state.deleteFrom('user_credentials').where('user_id', '=', id).where(isDeletedNow),
      state.deleteFrom('favorites').where('owner_id', '=', id).where(isDeletedNow),
      this.#endSharing(id, deletedAtUs, isDeletedNow),
      state
        .updateTable('totals')
        .set({ total: sql<number>`total - 1` })
        .where('list', '=', 'users' satisfies Total)
        .where('owner_id', '=', everybody)
        .where(isDeletedNow),
      audit.entry({ action: 'user.deleted', actor, subjectId: id, userId: id }, isDeletedNow),
    )
    if (await this.find(id)) {
      throw conflict(
        'no other user would have a key with platform:admin',
        'Give another user a key with platform:admin that does not expire: POST /keys; then delete this user.',
      )
    }
  }

  /** Their devices may be many: they go later. */
  #endFleets(id: UserId, atUs: number, when: Expression<SqlBool>): Compilable {
    return this.#needs.state
      .updateTable('fleets')
      .set({ ended_at: atUs, ending: 'forget' })
      .where('owner_id', '=', id)
      .where(when)
  }

  /**
   * Webhooks lead to receivers of the user, and are signed with the user's secrets, and addresses are those of
   * people: they end as well.
   */
  #endDeliveries(id: UserId, when: Expression<SqlBool>): readonly Compilable[] {
    const { state } = this.#needs
    return [
      ...(['webhooks', 'email_recipients'] as const).map((receivers) =>
        state
          .updateTable('deliveries')
          .set({ state: 'cancelled', due_at: null })
          .where(
            'receiver_id',
            'in',
            state.selectFrom(receivers).select('id').where('owner_id', '=', id),
          )
          .where('due_at', 'is not', null)
          .where(when),
      ),
      state.deleteFrom('email_recipients').where('owner_id', '=', id).where(when),
      state.deleteFrom('email_verifications').where('owner_id', '=', id).where(when),
      state.deleteFrom('webhook_subscriptions').where('owner_id', '=', id).where(when),
      state.deleteFrom('webhooks').where('owner_id', '=', id).where(when),
      state.deleteFrom('notification_preferences').where('owner_id', '=', id).where(when),
      state.deleteFrom('console_settings').where('user_id', '=', id).where(when),
    ]
  }

  /**
   * What the user shares, and what is shared with the user, counts no more: one row says so for all of it, as there can
   * be very much. What else belongs to the ends of permissions follows.
   */
  #endSharing(id: UserId, nowUs: number, when: Expression<SqlBool>): Compilable {
    return this.#needs.state
      .insertInto('departed_users')
      .columns(['user_id', 'departed_at'])
      .expression(
        sql`SELECT ${id}, ${nowUs} WHERE ${when} AND (
              EXISTS (SELECT 1 FROM permissions WHERE owner_id = ${id})
              OR EXISTS (SELECT 1 FROM permissions WHERE user_id = ${id}))`,
      )
      .onConflict((same) => same.doNothing())
  }

  #named(username: string | undefined) {
    const users = this.#present()
    if (username === undefined) return users
    return users.where(sql<string>`lower(username)`, '=', username.toLowerCase())
  }

  #present() {
    return this.#needs.state.selectFrom('users').where('deleted_at', 'is', null)
  }

  /** Whether there is a user with this time of deletion, or of none. */
  #exists(id: UserId, deletedAtUs: number | null): Expression<SqlBool> {
    const users = this.#needs.state
      .selectFrom('users')
      .select('id')
      .where('id', '=', id)
      .where('deleted_at', deletedAtUs === null ? 'is' : '=', deletedAtUs)
    return sql<SqlBool>`exists ${users}`
  }
}

function fromRow(row: Selectable<StateSchema['users']>): User {
  return {
    id: row.id as UserId,
    username: row.username,
    firstName: row.first_name,
    lastName: row.last_name,
    createdAtUs: row.created_at,
    imageCid: row.image_cid,
    imageUploads: row.image_uploads,
  }
}
