import type { Compilable } from 'kysely'
import type { UserId } from '../../../core/ids.ts'
import { optional, type StateDatabase, type StateWriter } from '../../../storage/state/database.ts'
import {
  changedPreferences,
  defaultPreferences,
  type Preferences,
  type PreferencesChange,
} from './preferences.ts'

/** Preferences of a user; the defaults where none are stored. */
export async function preferencesOf(state: StateDatabase, ownerId: UserId): Promise<Preferences> {
  const stored = await storedOf(state, ownerId)
  return stored === undefined ? defaultPreferences : (JSON.parse(stored) as Preferences)
}

async function storedOf(state: StateDatabase, ownerId: UserId): Promise<string | undefined> {
  const row = await state
    .selectFrom('notification_preferences')
    .select('preferences')
    .where('owner_id', '=', ownerId)
    .executeTakeFirst()
  return row?.preferences
}

export class PreferenceStore {
  readonly #state: StateDatabase
  readonly #writer: StateWriter

  constructor(state: StateDatabase, writer: StateWriter) {
    this.#state = state
    this.#writer = writer
  }

  async read(ownerId: UserId): Promise<Preferences> {
    return await preferencesOf(this.#state, ownerId)
  }

  /**
   * Changes preferences: of several changes at once one is first, and the others are merged into
   * what it has made.
   */
  async change(ownerId: UserId, change: PreferencesChange): Promise<Preferences> {
    for (;;) {
      const before = await storedOf(this.#state, ownerId)
      const preferences =
        before === undefined ? defaultPreferences : (JSON.parse(before) as Preferences)
      const changed = changedPreferences(preferences, change)
      const isMade = await this.#writer.attempt(
        this.#replacement(ownerId, before, JSON.stringify(changed)),
      )
      if (isMade) return changed
    }
  }

  /** The changes after which the default ones hold. */
  reset(ownerId: UserId): readonly Compilable[] {
    const removal = this.#state.deleteFrom('notification_preferences')
    return [optional(removal.where('owner_id', '=', ownerId))]
  }

  #replacement(ownerId: UserId, before: string | undefined, preferences: string): Compilable {
    if (before === undefined) {
      return this.#state
        .insertInto('notification_preferences')
        .values({ owner_id: ownerId, preferences })
        .onConflict((conflict) => conflict.doNothing())
    }
    return this.#state
      .updateTable('notification_preferences')
      .set({ preferences })
      .where('owner_id', '=', ownerId)
      .where('preferences', '=', before)
  }
}
