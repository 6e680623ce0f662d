import { type Compilable, type Expression, type Selectable, type SqlBool, sql } from 'kysely'
import type { Actor, AuditLog } from '../../access/audit/audit-log.ts'
import type { DroppedPublishes } from '../../access/auth/dropped-publishes.ts'
import {
  type ForeignTopics,
  foreignTopicsColumn,
  foreignTopicsIn,
} from '../../access/auth/foreign-topics.ts'
import { type ApiKey, type KeyDirectory, keysMax } from '../../access/auth/key-directory.ts'
import { anotherAdminRemains } from '../../access/auth/last-admin.ts'
import type { MasterKey } from '../../access/auth/master-key.ts'
import type { Clock } from '../../core/clock.ts'
import { conflict, noRoom } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import { notFound } from '../../core/not-found.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { type Key, type KeyGrant, type KeyKind, newKeyAndSecret, newSecret } from './key.ts'
import { keyBody } from './key-api.ts'

/** Keys of one user, expired ones included: one for each of a thousand devices. */
export const keysOfUserMax = 1_000

export interface KeyStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly masterKey: MasterKey
  readonly clock: Clock
  readonly audit: AuditLog
  readonly directory: KeyDirectory
  readonly droppedPublishes: Pick<DroppedPublishes, 'of'>
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
}

export interface NewKey extends KeyGrant {
  readonly userId: UserId
  readonly name: string
  readonly kind: KeyKind
  readonly permission: string
  readonly foreignTopics: ForeignTopics
}

/** A key with its secret, which is known here for the last time, and what makes it count. */
export interface PlannedKey {
  readonly key: Key
  readonly secret: string
  /** None can be made when something came in between. */
  readonly changes: readonly Compilable[]
  readonly afterwards: () => Promise<void>
}

/** Makes, lists, rotates and revokes keys. Each change counts before anybody hears of it. */
export class KeyStore {
  readonly #needs: KeyStoreNeeds

  constructor(needs: KeyStoreNeeds) {
    this.#needs = needs
  }

  /**
   * A new key. Its changes cannot be made when the user has too many, or the maker's key has ended.
   *
   * @throws DomainError `conflict` when there are too many keys of all users
   */
  plan(actor: Actor, wanted: NewKey): PlannedKey {
    const { masterKey, clock, audit, directory, lifecycle } = this.#needs
    if (directory.size >= keysMax) throw noRoom('there are too many keys', 'DELETE /keys/{keyId}')
    const { id, secret } = newKeyAndSecret(wanted.kind)
    const { userId, scopes, name, permission, expiresAtUs, foreignTopics } = wanted
    const createdAtUs = clock.nowUs()
    const row = {
      id,
      user_id: userId,
      secret_digest: masterKey.digest(secret),
      scopes: scopes.join(' '),
      created_at: createdAtUs,
      name,
      permission,
      expires_at: expiresAtUs ?? null,
      foreign_topics: foreignTopicsColumn(foreignTopics),
    }
    const details = {
      name,
      permission,
      scopes: row.scopes,
      expiresAtUs: row.expires_at,
      ...(foreignTopics === 'ignore' && { foreignTopics }),
    }
    const known = { id, userId, name, permission, scopes, createdAtUs, expiresAtUs }
    const key = { ...known, ...neverUsed, foreignTopics }
    return {
      key,
      secret,
      changes: [
        this.#insertion(row, actor),
        audit.entry({ action: 'key.created', actor, subjectId: id, userId, details }),
        ...lifecycle.record({
          event: 'key.created',
          ownerId: userId,
          resourceId: id,
          name,
          actor,
          notice: { data: keyBody(key) },
        }),
      ],
      afterwards: () => directory.refresh(id),
    }
  }

  async list(userId: UserId, after: ListCursor | undefined, limit: number): Promise<Key[]> {
    let query = this.#present()
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('created_at')
      .orderBy('id')
      .limit(limit)
    if (after) {
      query = query.where((where) =>
        where(where.refTuple('created_at', 'id'), '>', where.tuple(after.createdAtUs, after.id)),
      )
    }
    return (await query.execute()).map((row) => this.#fromRow(row))
  }

  /** @throws DomainError `not_found` when it has been revoked */
  async read(id: string): Promise<Key> {
    const row = await this.#present().selectAll().where('id', '=', id).executeTakeFirst()
    if (!row) throw notFound('key', id)
    return this.#fromRow(row)
  }

  /**
   * Gives a key a new secret. The one before stays good for `overlapS` seconds, the one before that
   * for no longer. The changes cannot be made when somebody else rotated or revoked it meanwhile.
   *
   * @throws DomainError `conflict` when it has been revoked
   */
  async planRotation(actor: Actor, { id, userId }: ApiKey, overlapS: number): Promise<PlannedKey> {
    const { state, masterKey, clock, audit, directory, lifecycle } = this.#needs
    const secret = newSecret()
    const digest = masterKey.digest(secret)
    const nowUs = clock.nowUs()
    const untilUs = overlapS === 0 ? undefined : nowUs + overlapS * 1_000_000
    const before = await this.#present().selectAll().where('id', '=', id).executeTakeFirst()
    if (!before) throw changedMeanwhile()
    const update = state
      .updateTable('api_keys')
      .set({
        secret_digest: digest,
        previous_digest: overlapS === 0 ? null : before.secret_digest,
        previous_until: untilUs ?? null,
        rotated_at: nowUs,
      })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .where('secret_digest', '=', before.secret_digest)
      .where(this.#exists(actor.apiKeyId))
    const details = { overlapS }
    return {
      key: { ...this.#fromRow(before), rotatedAtUs: nowUs, previousSecretUntilUs: untilUs },
      secret,
      changes: [
        update,
        audit.entry({ action: 'key.rotated', actor, subjectId: id, userId, details }),
        ...lifecycle.record({
          event: 'key.rotated',
          ownerId: userId,
          resourceId: id,
          name: before.name,
          actor,
        }),
      ],
      afterwards: () => directory.refresh(id),
    }
  }

  /**
   * Changes what the clients of a key do on topics that are none of its own: its sessions end, so that they
   * begin anew with it. One that is as wanted stays as it is.
   *
   * @throws DomainError `conflict` when it was revoked meanwhile
   */
  async change(actor: Actor, { id, userId, ...key }: ApiKey, to: ForeignTopics): Promise<void> {
    if (key.foreignTopics === to) return
    const { state, writer, audit, directory } = this.#needs
    const details = { foreignTopics: to }
    const isChanged = await writer.attempt(
      state
        .updateTable('api_keys')
        .set({ foreign_topics: foreignTopicsColumn(to) })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .where(this.#exists(actor.apiKeyId)),
      audit.entry({ action: 'key.changed', actor, subjectId: id, userId, details }),
    )
    if (!isChanged) throw changedMeanwhile()
    await directory.refresh(id)
  }

  /** @throws DomainError `conflict` when nobody with `platform:admin` would remain */
  async revoke(actor: Actor, { id, userId }: ApiKey): Promise<void> {
    const { state, writer, clock, audit, directory, lifecycle } = this.#needs
    const mayEnd = anotherAdminRemains(state, { withoutKey: id })
    const known = await this.#present().selectAll().where('id', '=', id).executeTakeFirst()
    if (!known) return
    const notice = { data: keyBody(this.#fromRow(known)) }
    const ends = sql<SqlBool>`(${this.#exists(id)} and ${mayEnd})`
    await writer.commit(
      audit.entry({ action: 'key.revoked', actor, subjectId: id, userId }, ends),
      ...lifecycle.record(
        { event: 'key.revoked', ownerId: userId, resourceId: id, name: known.name, actor, notice },
        ends,
      ),
      // Bootstrap keys stay known as revoked, so that no later start brings them back.
      state
        .updateTable('api_keys')
        .set({ revoked_at: clock.nowUs() })
        .where('id', '=', id)
        .where('origin', '!=', 'api')
        .where('revoked_at', 'is', null)
        .where(mayEnd),
      state.deleteFrom('api_keys').where('id', '=', id).where('origin', '=', 'api').where(mayEnd),
    )
    await directory.refresh(id)
    if (directory.findAny(id)) {
      throw conflict(
        'it is the last key with platform:admin that does not expire',
        'Make another key with platform:admin and without an expiry first: POST /keys.',
      )
    }
  }

  #present() {
    return this.#needs.state.selectFrom('api_keys').where('revoked_at', 'is', null)
  }

  /** Only while the user and the maker's key are there, and there is room. */
  #insertion(row: NewRow, actor: Actor) {
    const { state } = this.#needs
    const user = state
      .selectFrom('users')
      .select('id')
      .where('id', '=', row.user_id)
      .where('deleted_at', 'is', null)
    const count = state
      .selectFrom('api_keys')
      .select((select) => select.fn.countAll<number>().as('total'))
      .where('user_id', '=', row.user_id)
    const names = Object.keys(row) as (keyof NewRow)[]
    const values = names.map((name) =>
      name.endsWith('_at')
        ? sql<number>`cast(${row[name]} as bigint)`.as(name)
        : sql<string>`cast(${row[name]} as text)`.as(name),
    )
    return state
      .insertInto('api_keys')
      .columns([...names, 'origin'])
      .expression(
        state
          .selectNoFrom([...values, sql<string>`cast('api' as text)`.as('origin')])
          .where(sql<SqlBool>`exists ${user}`)
          .where(sql<SqlBool>`${count} < ${keysOfUserMax}`)
          .where(this.#exists(actor.apiKeyId)),
      )
  }

  #exists(id: string): Expression<SqlBool> {
    return sql<SqlBool>`exists ${this.#present().select('id').where('id', '=', id)}`
  }

  #fromRow(row: Selectable<StateSchema['api_keys']>): Key {
    const { clock, directory, droppedPublishes } = this.#needs
    const previousUntilUs = row.previous_until ?? 0
    return {
      id: row.id,
      userId: row.user_id as UserId,
      name: row.name,
      permission: row.permission,
      scopes: row.scopes.split(' ').filter((scope) => scope !== ''),
      createdAtUs: row.created_at,
      expiresAtUs: row.expires_at ?? undefined,
      rotatedAtUs: row.rotated_at ?? undefined,
      previousSecretUntilUs: previousUntilUs > clock.nowUs() ? previousUntilUs : undefined,
      lastUsedAtUs: directory.lastUsedUs(row.id),
      droppedPublishes: droppedPublishes.of(row.id),
      foreignTopics: foreignTopicsIn(row.foreign_topics),
    }
  }
}

const neverUsed = {
  rotatedAtUs: undefined,
  previousSecretUntilUs: undefined,
  lastUsedAtUs: undefined,
  droppedPublishes: 0,
}

export function changedMeanwhile(): DomainError {
  return conflict(
    'the key was changed at the same time',
    'Read it again with GET /keys/{keyId}, then send the change again.',
  )
}

interface NewRow {
  readonly id: string
  readonly user_id: string
  readonly secret_digest: string
  readonly scopes: string
  readonly created_at: number
  readonly name: string
  readonly permission: string
  readonly expires_at: number | null
  readonly foreign_topics: string | null
}
