import { randomUUID } from 'node:crypto'
import { type Compilable, type Selectable, sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import { parseEmail } from '../../core/email-address.ts'
import type { UserId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import type {
  Credential,
  CredentialType,
  Entity,
  EntityType,
  NewCredential,
  NewEntity,
  Profile,
  User,
} from './user.ts'

/** Entities, and credentials, that one user can have: every answer about a user shows them all. */
export const partsMax = 20

type Part = 'user_entities' | 'user_credentials'

export interface ProfileStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
}

/** What a user says of himself: entities and credentials. */
export class ProfileStore {
  readonly #needs: ProfileStoreNeeds

  constructor(needs: ProfileStoreNeeds) {
    this.#needs = needs
  }

  async of(user: User): Promise<Profile> {
    const [profile] = await this.ofAll([user])
    return profile as Profile
  }

  /** The profiles of users, in their order. */
  async ofAll(users: readonly User[]): Promise<readonly Profile[]> {
    const ids = users.map(({ id }) => id)
    const [entities, credentials, confirmed] = await Promise.all([
      this.#rows('user_entities', ids),
      this.#rows('user_credentials', ids),
      this.#confirmedAddresses(ids),
    ])
    return users.map((user) => ({
      user,
      entities: entities.filter((row) => row.user_id === user.id).map(toEntity),
      credentials: credentials
        .filter((row) => row.user_id === user.id)
        .map((row) => toCredential(row, confirmed)),
    }))
  }

  /** A new entity, and the change that stores it: none can be made when there are too many. */
  planEntity(
    userId: UserId,
    entity: NewEntity,
  ): { readonly entity: Entity; readonly changes: readonly Compilable[] } {
    const { state, clock } = this.#needs
    const added = { ...entity, id: randomUUID(), createdAtUs: clock.nowUs() }
    const { id, createdAtUs, name, description, type } = added
    const values = state
      .selectNoFrom([
        ...this.#common(id, userId, createdAtUs),
        text(name).as('name'),
        text(description).as('description'),
        text(type).as('type'),
      ])
      .where(this.#hasRoom('user_entities', userId))
    const insertion = state
      .insertInto('user_entities')
      .columns(['id', 'user_id', 'created_at', 'name', 'description', 'type'])
      .expression(values)
    return { entity: added, changes: [insertion] }
  }

  /** A new credential, and the change that stores it: none can be made when there are too many. */
  async planCredential(
    userId: UserId,
    credential: NewCredential,
  ): Promise<{ readonly credential: Credential; readonly changes: readonly Compilable[] }> {
    const { state, clock } = this.#needs
    const id = randomUUID()
    const createdAtUs = clock.nowUs()
    const { type, identityProvider, key, ledger } = credential
    const values = state
      .selectNoFrom([
        ...this.#common(id, userId, createdAtUs),
        text(type).as('type'),
        text(identityProvider).as('identity_provider'),
        text(key).as('key'),
        text(ledger).as('ledger'),
      ])
      .where(this.#hasRoom('user_credentials', userId))
    const insertion = state
      .insertInto('user_credentials')
      .columns(['id', 'user_id', 'created_at', 'type', 'identity_provider', 'key', 'ledger'])
      .expression(values)
    const confirmed = await this.#confirmedAddresses([userId])
    const validated = isConfirmed(userId, credential, confirmed)
    const added = { ...credential, id, createdAtUs, validated }
    return { credential: added, changes: [insertion] }
  }

  /** False when the user has no such part. */
  async remove(part: Part, userId: UserId, id: string): Promise<boolean> {
    const { state, writer } = this.#needs
    const found = await state
      .selectFrom(part)
      .select('id')
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .executeTakeFirst()
    if (!found) return false
    await writer.commit(state.deleteFrom(part).where('user_id', '=', userId).where('id', '=', id))
    return true
  }

  async #rows<Of extends Part>(part: Of, userIds: readonly UserId[]) {
    const rows = await this.#needs.state
      .selectFrom<Part>(part)
      .selectAll()
      .where('user_id', 'in', userIds)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return rows as Selectable<StateSchema[Of]>[]
  }

  /** Addresses whose mailbox these users have shown to be theirs, also where they are not to be sent anything now. */
  async #confirmedAddresses(userIds: readonly UserId[]): Promise<ReadonlySet<string>> {
    const rows = await this.#needs.state
      .selectFrom('email_recipients')
      .select(['owner_id', 'email_folded'])
      .where('owner_id', 'in', userIds)
      .where('verified_at', 'is not', null)
      .execute()
    return new Set(rows.map((row) => addressOf(row.owner_id, row.email_folded)))
  }

  #common(id: string, userId: UserId, createdAtUs: number) {
    return [
      text(id).as('id'),
      text(userId).as('user_id'),
      sql<number>`cast(${createdAtUs} as bigint)`.as('created_at'),
    ] as const
  }

  #hasRoom(part: Part, userId: UserId) {
    const own = this.#needs.state
      .selectFrom(part)
      .select((select) => select.fn.countAll<number>().as('total'))
      .where('user_id', '=', userId)
    return sql<boolean>`${own} < ${partsMax}`
  }
}

function text(value: string) {
  return sql<string>`cast(${value} as text)`
}

function toEntity(row: Selectable<StateSchema['user_entities']>): Entity {
  return {
    id: row.id,
    createdAtUs: row.created_at,
    name: row.name,
    description: row.description,
    type: row.type as EntityType,
  }
}

function addressOf(userId: string, folded: string): string {
  return `${userId} ${folded}`
}

/** Whether a credential is an address that its user has confirmed as a recipient of mails. */
function isConfirmed(
  userId: string,
  { type, key }: Pick<NewCredential, 'type' | 'key'>,
  confirmed: ReadonlySet<string>,
): boolean {
  const folded = type === 'EMAIL' ? parseEmail(key)?.folded : undefined
  return folded !== undefined && confirmed.has(addressOf(userId, folded))
}

function toCredential(
  row: Selectable<StateSchema['user_credentials']>,
  confirmed: ReadonlySet<string>,
): Credential {
  const { key } = row
  const type = row.type as CredentialType
  return {
    id: row.id,
    createdAtUs: row.created_at,
    type,
    validated: isConfirmed(row.user_id, { type, key }, confirmed),
    identityProvider: row.identity_provider,
    key,
    ledger: row.ledger as Ledger,
  }
}
