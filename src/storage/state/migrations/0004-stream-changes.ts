import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Data streams that are changed, paused, tagged and deleted.
 *
 * A deleted stream has no row among the streams any more, so nothing can find it; its versions stay
 * until all of its readings have passed the journal, so they refer to no stream.
 */
export const streamChanges: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `ALTER TABLE data_streams ADD COLUMN name_folded TEXT NOT NULL DEFAULT ''`,
  'UPDATE data_streams SET name_folded = lower(name)',
  `ALTER TABLE data_streams ADD COLUMN tags TEXT NOT NULL DEFAULT '{}'`,
  'ALTER TABLE data_streams ADD COLUMN paused_at BIGINT',
  'DROP INDEX data_streams_by_owner',
  'CREATE INDEX data_streams_by_owner ON data_streams (owner_id, created_at, id, name_folded)',
  'DROP INDEX data_streams_by_vault',
  'CREATE INDEX data_streams_by_vault ON data_streams (vault_id, created_at, id)',

  `CREATE TABLE stream_versions (
     stream_id TEXT NOT NULL, version INTEGER NOT NULL, name TEXT NOT NULL, tags TEXT NOT NULL,
     definition TEXT NOT NULL, created_at BIGINT NOT NULL, created_by TEXT,
     PRIMARY KEY (stream_id, version))`,
  `INSERT INTO stream_versions
     SELECT version.stream_id, version.version, stream.name, '{}', version.definition,
       version.created_at, NULL
     FROM data_stream_versions version JOIN data_streams stream ON stream.id = version.stream_id`,
  'DROP TABLE data_stream_versions',
  'ALTER TABLE stream_versions RENAME TO data_stream_versions',

  `CREATE TABLE data_stream_tags (
     stream_id TEXT NOT NULL, owner_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
     PRIMARY KEY (stream_id, key))`,
  'CREATE INDEX data_stream_tags_by_value ON data_stream_tags (owner_id, key, value, stream_id)',

  `CREATE TABLE data_stream_deletions (
     stream_id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, name TEXT NOT NULL,
     deleted_at BIGINT NOT NULL, journal_offset BIGINT, removed_at BIGINT,
     removed_readings BIGINT NOT NULL, removed_quarantine BIGINT NOT NULL)`,
  'CREATE INDEX data_stream_deletions_by_end ON data_stream_deletions (removed_at, deleted_at)',
]
