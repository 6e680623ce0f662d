import type { UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** What lists of sessions say beside the sessions: names of users and keys. */
export class ConsoleSessionStore {
  readonly #state: StateDatabase

  constructor(state: StateDatabase) {
    this.#state = state
  }

  /** The name of a user, also of one that has just been deleted. */
  async usernameOf(id: UserId): Promise<string> {
    const row = await this.#state
      .selectFrom('users')
      .select('username')
      .where('id', '=', id)
      .executeTakeFirst()
    return row?.username ?? ''
  }

  /** Names of the keys of a user, by their ids. */
  async keyNamesOf(userId: UserId): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#state
      .selectFrom('api_keys')
      .select(['id', 'name'])
      .where('user_id', '=', userId)
      .execute()
    return new Map(rows.map(({ id, name }) => [id, name]))
  }
}
