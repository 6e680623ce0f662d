import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Work that goes on in the background: readings into files, and files into streams. */
export const exportsAndImports: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE export_jobs (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, created_at BIGINT NOT NULL, state TEXT NOT NULL,
     request TEXT NOT NULL, rows BIGINT NOT NULL, bytes BIGINT NOT NULL,
     progress DOUBLE PRECISION NOT NULL, next_stream INTEGER NOT NULL, next_cursor TEXT,
     started_at BIGINT, finished_at BIGINT, error TEXT, message TEXT)`,
  'CREATE INDEX export_jobs_by_owner ON export_jobs (owner_id, created_at, id)',
  'CREATE INDEX export_jobs_by_state ON export_jobs (state, created_at)',
  'CREATE INDEX export_jobs_by_end ON export_jobs (finished_at)',
  `CREATE TABLE export_files (
     job_id TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, stream_id TEXT NOT NULL,
     rows BIGINT NOT NULL, bytes BIGINT NOT NULL, sha256 TEXT NOT NULL,
     PRIMARY KEY (job_id, number))`,
  `CREATE TABLE import_jobs (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, stream_id TEXT NOT NULL,
     created_at BIGINT NOT NULL, state TEXT NOT NULL, format TEXT NOT NULL,
     bytes BIGINT NOT NULL, sha256 TEXT NOT NULL, next_row BIGINT NOT NULL,
     accepted BIGINT NOT NULL, refused BIGINT NOT NULL, duplicates BIGINT NOT NULL,
     duplicates_before BIGINT, progress DOUBLE PRECISION NOT NULL, refusals TEXT NOT NULL,
     started_at BIGINT, finished_at BIGINT, error TEXT, message TEXT)`,
  'CREATE INDEX import_jobs_by_owner ON import_jobs (owner_id, created_at, id)',
  'CREATE INDEX import_jobs_by_state ON import_jobs (state, created_at)',
  'CREATE INDEX import_jobs_by_end ON import_jobs (finished_at)',
]
