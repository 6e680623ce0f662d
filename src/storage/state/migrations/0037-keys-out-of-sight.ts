import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Idempotency-Keys are kept as digests, and only who has the master key can make these of those that there are: it finds
 * them in tables of their own (src/requests/idempotency/keys-in-clear.ts).
 */
export const keysOutOfSight: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  // A new table may get the page of an old one, and what stood there would stay behind its rows. It is on until the
  // keys are moved.
  'PRAGMA secure_delete = ON',
  'DROP INDEX idempotent_answers_by_age',
  'ALTER TABLE idempotent_answers RENAME TO idempotent_answers_in_clear',
  `CREATE TABLE idempotent_answers (
     user_id TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, body_digest TEXT NOT NULL,
     status_code INTEGER NOT NULL, body_encrypted BLOB NOT NULL, created_at BIGINT NOT NULL,
     PRIMARY KEY (user_id, path, key))`,
  'CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created_at)',
  'DROP INDEX idempotency_keys_by_age',
  'ALTER TABLE idempotency_keys RENAME TO idempotency_keys_in_clear',
  `CREATE TABLE idempotency_keys (
     user_id TEXT NOT NULL, stream_id TEXT NOT NULL, key TEXT NOT NULL,
     body_digest TEXT NOT NULL, received_at BIGINT NOT NULL,
     PRIMARY KEY (user_id, stream_id, key))`,
  'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (received_at)',
]
