import type { Compilable } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'

/** How a user wants to see the console: kept here, because the page keeps nothing in a browser. */
export interface ConsoleSettings {
  readonly theme: 'system' | 'light' | 'dark'
  /** `browser`, or a name of the IANA database. */
  readonly timeZone: string
  /** Whether keys do something by themselves. */
  readonly shortcuts: boolean
}

const usual: ConsoleSettings = { theme: 'system', timeZone: 'browser', shortcuts: true }

/** Whether times can be shown in it, in every browser: some take offsets as well, and others fail at them. */
export function isZone(name: string): boolean {
  if (name === 'browser') return true
  if (/^[+-]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

export class ConsoleSettingsStore {
  readonly #state: StateDatabase
  readonly #writer: StateWriter

  constructor(state: StateDatabase, writer: StateWriter) {
    this.#state = state
    this.#writer = writer
  }

  /** Settings of a user; the usual ones where none are stored. */
  async read(userId: UserId): Promise<ConsoleSettings> {
    const row = await this.#state
      .selectFrom('console_settings')
      .select('settings')
      .where('user_id', '=', userId)
      .executeTakeFirst()
    return row === undefined ? usual : (JSON.parse(row.settings) as ConsoleSettings)
  }

  async replace(userId: UserId, settings: ConsoleSettings): Promise<void> {
    await this.#writer.commit(this.#replacement(userId, JSON.stringify(settings)))
  }

  #replacement(userId: UserId, settings: string): Compilable {
    return this.#state
      .insertInto('console_settings')
      .values({ user_id: userId, settings })
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ settings }))
  }
}
