import { randomBytes } from 'node:crypto'
import type { Compilable, Selectable } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { type ForeignTopics, foreignTopicsIn } from './foreign-topics.ts'
import type { MasterKey } from './master-key.ts'

/** Keys of the whole service: all of them are in memory, about 500 bytes each. */
export const keysMax = 100_000

/** Times of last use that are written in one transaction. */
const flushedMax = 500

/** A key as it is now. Changed only as a whole, so whoever holds one can compare by identity. */
export interface ApiKey {
  readonly id: string
  readonly userId: UserId
  /** Space-separated. */
  readonly scope: string
  /** `configured`: its secret comes from the environment; `bootstrap`: made at the first start. */
  readonly origin: 'api' | 'bootstrap' | 'configured'
  readonly expiresAtUs: number | undefined
  readonly foreignTopics: ForeignTopics
}

interface Entry extends ApiKey {
  readonly digest: string
  readonly previousDigest: string | undefined
  readonly previousUntilUs: number
}

export interface KeyDirectoryNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly masterKey: MasterKey
  readonly clock: Clock
}

/**
 * Every key of the service, in the memory of the thread that asks for them.
 *
 * It is complete, not a cache: a key that is not here does not exist. So a known key takes as long
 * as an unknown one, and no token is checked against something outdated. Whoever commits a change
 * of a key calls `refresh` before it answers; from then on the old state is used by nobody.
 */
export class KeyDirectory {
  readonly #needs: KeyDirectoryNeeds
  readonly #entries = new Map<string, Entry>()
  readonly #lastUsedUs = new Map<string, number>()
  /** Keys used since the last flush. */
  readonly #used = new Set<string>()
  readonly #endListeners: ((keyId: string) => void)[] = []
  /** Compared with when there is no such key, so that this takes the same time as a wrong secret. */
  readonly #nobodysDigest: string
  #refreshing: Promise<void> = Promise.resolve()

  private constructor(needs: KeyDirectoryNeeds) {
    this.#needs = needs
    this.#nobodysDigest = needs.masterKey.digest(randomBytes(32).toString('hex'))
  }

  static async open(needs: KeyDirectoryNeeds): Promise<KeyDirectory> {
    const directory = new KeyDirectory(needs)
    const rows = await needs.state
      .selectFrom('api_keys')
      .selectAll()
      .where('revoked_at', 'is', null)
      .execute()
    for (const row of rows) directory.#put(row)
    return directory
  }

  get size(): number {
    return this.#entries.size
  }

  /** The key, unless it was revoked or has expired. */
  find(id: string): ApiKey | undefined {
    const entry = this.#entries.get(id)
    return entry && isCurrent(entry, this.#needs.clock) ? entry : undefined
  }

  /** The key, even when it has expired. */
  findAny(id: string): ApiKey | undefined {
    return this.#entries.get(id)
  }

  /** Whether whoever proved to have this key would do so again: nothing about it can have ended. */
  isUnchanged(key: ApiKey): boolean {
    const entry = this.#entries.get(key.id)
    // While it has two secrets, one of them can end without a change: nobody knows here which it was.
    return entry === key && entry.previousDigest === undefined && this.find(key.id) === key
  }

  /** Whether the secret of this digest is still good for the key. */
  hasSecret(id: string, digest: string): boolean {
    const entry = this.#entries.get(id)
    if (!entry || !isCurrent(entry, this.#needs.clock)) return false
    if (entry.digest === digest) return true
    return entry.previousDigest === digest && entry.previousUntilUs > this.#needs.clock.nowUs()
  }

  /** The key when the secret is its own. All refusals take the same work (decisions.md#keys). */
  verify(id: string, secret: string): ApiKey | undefined {
    const nowUs = this.#needs.clock.nowUs()
    const entry = this.#entries.get(id)
    const previous =
      entry?.previousDigest !== undefined && entry.previousUntilUs > nowUs
        ? entry.previousDigest
        : this.#nobodysDigest
    const matches = this.#needs.masterKey.matches(
      secret,
      entry?.digest ?? this.#nobodysDigest,
      previous,
    )
    if (!entry || !matches || !isCurrent(entry, this.#needs.clock)) return undefined
    this.use(entry)
    return entry
  }

  /** Remembers that the key was used; it is written down later (`flush`). */
  use({ id }: ApiKey): void {
    this.#lastUsedUs.set(id, this.#needs.clock.nowUs())
    this.#used.add(id)
  }

  lastUsedUs(id: string): number | undefined {
    return this.#lastUsedUs.get(id)
  }

  /**
   * Takes over the committed state of keys. To be called after each commit that changed them.
   *
   * @throws Error when it cannot be read: such a key is refused from then on, rather than believed
   */
  async refresh(...ids: readonly string[]): Promise<void> {
    // One after the other: the last one to read has seen what all of them committed.
    const turn = this.#refreshing.then(() => this.#reload(ids))
    this.#refreshing = turn.catch(() => undefined)
    await turn
  }

  /** Like `refresh`, for all keys of a user. */
  async refreshUser(userId: UserId): Promise<void> {
    const own = [...this.#entries.values()].filter((entry) => entry.userId === userId)
    await this.refresh(...own.map(({ id }) => id))
  }

  /** The listener is told of each key that has ended, or means something else now, as soon as this directory knows. */
  onEnd(listener: (keyId: string) => void): void {
    this.#endListeners.push(listener)
  }

  /**
   * Writes down when keys were last used. Called about once a minute, so at most that often. What
   * cannot be written is tried again the next time.
   */
  async flush(): Promise<void> {
    const ids = [...this.#used]
    for (let from = 0; from < ids.length; from += flushedMax) {
      const flushed = ids.slice(from, from + flushedMax)
      const changes = flushed.map((id) => this.#lastUse(id))
      // Before the commit: who uses a key meanwhile is written down the next time.
      for (const id of flushed) this.#used.delete(id)
      try {
        await this.#needs.writer.commit(...changes)
      } catch (error) {
        for (const id of flushed) if (this.#entries.has(id)) this.#used.add(id)
        throw error
      }
    }
  }

  #lastUse(id: string): Compilable {
    return this.#needs.state
      .updateTable('api_keys')
      .set({ last_used_at: this.#lastUsedUs.get(id) ?? null })
      .where('id', '=', id)
  }

  async #reload(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      try {
        const row = await this.#needs.state
          .selectFrom('api_keys')
          .selectAll()
          .where('id', '=', id)
          .where('revoked_at', 'is', null)
          .executeTakeFirst()
        if (row) this.#put(row)
        else this.#remove(id)
      } catch (error) {
        this.#remove(id)
        throw error
      }
    }
  }

  #put(row: Selectable<StateSchema['api_keys']>): void {
    const before = this.#entries.get(row.id)
    const setting = foreignTopicsIn(row.foreign_topics)
    this.#entries.set(row.id, {
      id: row.id,
      userId: row.user_id as UserId,
      scope: row.scopes,
      origin: row.origin as ApiKey['origin'],
      expiresAtUs: row.expires_at ?? undefined,
      foreignTopics: setting,
      digest: row.secret_digest,
      previousDigest: row.previous_digest ?? undefined,
      previousUntilUs: row.previous_until ?? 0,
    })
    const lastUsedUs = Math.max(row.last_used_at ?? 0, this.#lastUsedUs.get(row.id) ?? 0)
    if (lastUsedUs > 0) this.#lastUsedUs.set(row.id, lastUsedUs)
    // Sessions know what held when they began: they begin anew.
    if (before !== undefined && before.foreignTopics !== setting) this.#end(row.id)
  }

  #remove(id: string): void {
    this.#lastUsedUs.delete(id)
    this.#used.delete(id)
    if (this.#entries.delete(id)) this.#end(id)
  }

  #end(id: string): void {
    for (const listener of this.#endListeners) listener(id)
  }
}

/** The clock is only asked for keys that expire: this runs several times for each request. */
function isCurrent({ expiresAtUs }: ApiKey, clock: Clock): boolean {
  return expiresAtUs === undefined || expiresAtUs > clock.nowUs()
}
