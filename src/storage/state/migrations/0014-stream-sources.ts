import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Streams that get their readings from a source that is asked for them, with its secrets. */
export const streamSources: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE stream_sources (
     stream_id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, secrets_encrypted BLOB NOT NULL)`,
  'CREATE INDEX stream_sources_by_owner ON stream_sources (owner_id)',
]
