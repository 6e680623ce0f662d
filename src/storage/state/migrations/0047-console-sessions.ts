import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Browsers that are signed in to the console. */
export const consoleSessions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw(statement).execute(db)
  },
}

const statement = `CREATE TABLE console_sessions (
  id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL, key_id TEXT NOT NULL,
  key_digest TEXT NOT NULL, address TEXT NOT NULL, created_at BIGINT NOT NULL,
  started_at BIGINT NOT NULL, used_at BIGINT NOT NULL)`
