import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Numbers of the events that rules tell of a stream. What was told before has none, so all begin with 1. */
export const alertSequences: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  "ALTER TABLE alert_memories ADD COLUMN sequences TEXT NOT NULL DEFAULT '{}'",
  'ALTER TABLE alerts ADD COLUMN sequence BIGINT',
]
