import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Refused readings that can be judged again. An entry is known by the offset of its reading in the
 * journal, which every replay finds again. The payload stands last, so that what is asked of many
 * entries is read without it.
 */
export const quarantine: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  'ALTER TABLE quarantine RENAME TO quarantine_before',
  'DROP INDEX quarantine_by_stream',
  `CREATE TABLE quarantine (
     stream_id TEXT NOT NULL, journal_offset BIGINT NOT NULL, stream_version INTEGER NOT NULL,
     reason TEXT NOT NULL, message TEXT NOT NULL, details TEXT NOT NULL, source TEXT NOT NULL,
     timestamp BIGINT, received_at BIGINT NOT NULL, is_element INTEGER NOT NULL,
     payload_bytes INTEGER NOT NULL, payload BLOB NOT NULL,
     PRIMARY KEY (stream_id, journal_offset))`,
  `INSERT INTO quarantine
     SELECT stream_id, journal_offset, stream_version, reason, message, details, source, timestamp,
            received_at, 0, octet_length(payload), payload
       FROM quarantine_before`,
  'DROP TABLE quarantine_before',
  'CREATE INDEX quarantine_by_reason ON quarantine (stream_id, reason, journal_offset)',

  // How many entries there are is told by `quarantined` alone.
  'ALTER TABLE stream_counters DROP COLUMN quarantine_entries',
  'ALTER TABLE stream_counters ADD COLUMN is_discarding INTEGER NOT NULL DEFAULT 0',
  `UPDATE stream_counters SET is_discarding = 1 WHERE discarded > 0`,
]
