import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** How users want to see the console. */
export const consoleSettings: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(statement).execute(db)
  },
}

const statement = 'CREATE TABLE console_settings (user_id TEXT PRIMARY KEY, settings TEXT NOT NULL)'
