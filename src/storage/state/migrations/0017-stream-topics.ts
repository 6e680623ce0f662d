import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Topics of devices that cannot change theirs: what a message on one of them is for. */
export const streamTopics: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE data_stream_topics (
     stream_id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, filter TEXT NOT NULL)`,
  'CREATE INDEX data_stream_topics_by_owner ON data_stream_topics (owner_id)',
]
