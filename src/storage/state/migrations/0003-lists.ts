import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Lists of millions of rows, favorites, and answers that are given again.
 *
 * Every order of a list has an index that also holds the id, so that the pages before the one that
 * is asked for are passed within the index.
 */
export const lists: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `ALTER TABLE templates ADD COLUMN name_folded TEXT NOT NULL DEFAULT ''`,
  'UPDATE templates SET name_folded = lower(name)',
  'DROP INDEX templates_by_owner',
  'DROP INDEX templates_public',
  `CREATE INDEX templates_by_owner_time
     ON templates (owner_id, created_at, id, name_folded)`,
  'CREATE INDEX templates_by_owner_name ON templates (owner_id, name_folded, id)',
  `CREATE INDEX templates_public_by_time
     ON templates (created_at, id, name_folded) WHERE public = 1`,
  'CREATE INDEX templates_public_by_name ON templates (name_folded, id) WHERE public = 1',
  'CREATE INDEX vaults_by_template ON vaults (template_id)',
  'CREATE INDEX data_streams_by_vault ON data_streams (vault_id)',
  `CREATE TABLE favorites (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL REFERENCES users(id), created_at BIGINT NOT NULL,
     type TEXT NOT NULL, ref TEXT NOT NULL, UNIQUE (owner_id, type, ref))`,
  'CREATE INDEX favorites_by_owner ON favorites (owner_id, created_at, id)',
  `CREATE TABLE totals (
     list TEXT NOT NULL, owner_id TEXT NOT NULL, total BIGINT NOT NULL,
     PRIMARY KEY (list, owner_id))`,
  `INSERT INTO totals SELECT 'templates', owner_id, count(*) FROM templates GROUP BY owner_id`,
  `INSERT INTO totals SELECT 'public_templates', '', count(*) FROM templates WHERE public = 1`,
  `INSERT INTO totals SELECT 'vaults', owner_id, count(*) FROM vaults GROUP BY owner_id`,
  `CREATE TABLE idempotent_answers (
     user_id TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, body_digest TEXT NOT NULL,
     status_code INTEGER NOT NULL, body_encrypted BLOB NOT NULL, created_at BIGINT NOT NULL,
     PRIMARY KEY (user_id, path, key))`,
  'CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created_at)',
  `INSERT INTO totals SELECT 'receipts', user_id, count(*) FROM idempotency_keys GROUP BY user_id`,
]
