import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Backups that were asked for, and what became of them. */
export const backups: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE backups (
     id TEXT PRIMARY KEY, state TEXT NOT NULL, destination TEXT NOT NULL,
     with_master_key INTEGER NOT NULL, created_at BIGINT NOT NULL, finished_at BIGINT,
     error TEXT, manifest TEXT)`,
  'CREATE INDEX backups_by_time ON backups (created_at, id)',
]
