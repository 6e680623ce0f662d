import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Times in which nobody could be heard, and how severe what an inbox tells of is. */
export const downtimes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE downtimes (
     journal_offset BIGINT PRIMARY KEY, from_at BIGINT NOT NULL, until_at BIGINT NOT NULL)`,
  'ALTER TABLE inbox_entries ADD COLUMN severity TEXT',
  `CREATE INDEX inbox_entries_severe
     ON inbox_entries (owner_id, severity, position, expires_at, id)
     WHERE archived_at IS NULL AND severity IS NOT NULL`,
]
