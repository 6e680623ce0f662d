import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Seals: roots over what is stored of a stretch of time. */
export const seals: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE seal_marks (
    stream_id TEXT NOT NULL,
    start_us BIGINT NOT NULL,
    width_us BIGINT NOT NULL,
    journal_offset BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    problem TEXT,
    PRIMARY KEY (stream_id, start_us, width_us)
  ) WITHOUT ROWID`,
  'CREATE INDEX seal_marks_due ON seal_marks (due_at)',
  `CREATE TABLE seal_batches (
    id TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    created_at BIGINT NOT NULL
  ) WITHOUT ROWID`,
  `CREATE TABLE seals (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    stream_id TEXT NOT NULL,
    start_us BIGINT NOT NULL,
    width_us BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    count BIGINT NOT NULL,
    root TEXT NOT NULL,
    previous TEXT,
    chunks BLOB NOT NULL,
    sealed_at BIGINT NOT NULL,
    batch_id TEXT,
    batch_index BIGINT,
    batch_path BLOB,
    UNIQUE (stream_id, start_us, width_us, revision)
  )`,
  // Few at any time: those of the next batch.
  'CREATE INDEX seals_without_batch ON seals (number) WHERE batch_id IS NULL',
]
