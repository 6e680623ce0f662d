import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Events of the service itself, on their way into the streams that are told of them. */
export const lifecycleEvents: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  'ALTER TABLE data_streams ADD COLUMN last_event_at BIGINT',
  `CREATE INDEX data_streams_of_service ON data_streams (owner_id) WHERE type = 'service'`,
  `CREATE TABLE lifecycle_events (
     stream_id TEXT NOT NULL, at BIGINT NOT NULL, reading TEXT NOT NULL,
     PRIMARY KEY (stream_id, at))`,
]
