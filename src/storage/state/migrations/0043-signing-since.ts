import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Since when a key signs, in steady time: for as long as it is to, whatever the wall clock showed. */
export const signingSince: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  'ALTER TABLE signing_keys ADD COLUMN signing_since BIGINT NOT NULL DEFAULT 0',
  'UPDATE signing_keys SET signing_since = created_at',
]
