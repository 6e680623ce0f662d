import type { Clock } from '../core/clock.ts'
import type { UserId } from '../core/ids.ts'
import type { StateDatabase, StateWriter } from '../state/database.ts'
import type { MasterKey } from './master-key.ts'
import { scopes } from './scopes.ts'

/** Who asks, once that is certain. */
export interface Caller {
  readonly userId: UserId
  readonly apiKeyId: string
  /** Space-separated permissions. */
  readonly scope: string
}

/** What the bootstrap key has. */
const allScopes = scopes.join(' ')

export interface ApiKeysNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly masterKey: MasterKey
  readonly clock: Clock
}

export class ApiKeys {
  readonly #state: StateDatabase
  readonly #writer: StateWriter
  readonly #masterKey: MasterKey
  readonly #clock: Clock
  /** Compared with when there is no such key, so that this takes the same time as a wrong secret. */
  readonly #nobodysDigest: string

  constructor({ state, writer, masterKey, clock }: ApiKeysNeeds) {
    this.#state = state
    this.#writer = writer
    this.#masterKey = masterKey
    this.#clock = clock
    this.#nobodysDigest = masterKey.digest('')
  }

  /** The caller behind a key and its secret, or nothing. */
  async verify(id: string, secret: string): Promise<Caller | undefined> {
    const key = await this.#state
      .selectFrom('api_keys')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    const matches = this.#masterKey.matches(secret, key?.secret_digest ?? this.#nobodysDigest)
    if (!key || !matches) return undefined
    return { userId: key.user_id as UserId, apiKeyId: key.id, scope: key.scopes }
  }

  async exists(id: string): Promise<boolean> {
    const key = await this.#state
      .selectFrom('api_keys')
      .select('id')
      .where('id', '=', id)
      .executeTakeFirst()
    return key !== undefined
  }

  /** Stores a key with all scopes, or gives an existing one this secret. */
  async put(userId: UserId, id: string, secret: string): Promise<void> {
    const secretDigest = this.#masterKey.digest(secret)
    await this.#writer.commit(
      this.#state
        .insertInto('api_keys')
        .values({
          id,
          user_id: userId,
          secret_digest: secretDigest,
          scopes: allScopes,
          created_at: this.#clock.nowUs(),
        })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({ secret_digest: secretDigest }),
        ),
    )
  }
}
