import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Profiles of users, keys that expire and are rotated, several signing keys, and the audit log. */
export const whoAsks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `ALTER TABLE users ADD COLUMN first_name TEXT NOT NULL DEFAULT ''`,
  `ALTER TABLE users ADD COLUMN last_name TEXT NOT NULL DEFAULT ''`,
  'ALTER TABLE users ADD COLUMN deleted_at BIGINT',
  'CREATE UNIQUE INDEX users_by_folded_name ON users (lower(username))',
  'CREATE INDEX users_by_age ON users (created_at, id)',
  `CREATE TABLE user_entities (
     id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users(id), created_at BIGINT NOT NULL,
     name TEXT NOT NULL, description TEXT NOT NULL, type TEXT NOT NULL)`,
  'CREATE INDEX user_entities_by_user ON user_entities (user_id, created_at, id)',
  `CREATE TABLE user_credentials (
     id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users(id), created_at BIGINT NOT NULL,
     type TEXT NOT NULL, validated INTEGER NOT NULL, identity_provider TEXT NOT NULL,
     key TEXT NOT NULL, ledger TEXT NOT NULL)`,
  'CREATE INDEX user_credentials_by_user ON user_credentials (user_id, created_at, id)',

  // What was there before this migration are bootstrap keys: nothing else could be made.
  `ALTER TABLE api_keys ADD COLUMN name TEXT NOT NULL DEFAULT 'bootstrap'`,
  `ALTER TABLE api_keys ADD COLUMN permission TEXT NOT NULL DEFAULT 'custom'`,
  `ALTER TABLE api_keys ADD COLUMN origin TEXT NOT NULL DEFAULT 'bootstrap'`,
  'ALTER TABLE api_keys ADD COLUMN previous_digest TEXT',
  'ALTER TABLE api_keys ADD COLUMN previous_until BIGINT',
  'ALTER TABLE api_keys ADD COLUMN rotated_at BIGINT',
  'ALTER TABLE api_keys ADD COLUMN expires_at BIGINT',
  'ALTER TABLE api_keys ADD COLUMN revoked_at BIGINT',
  'ALTER TABLE api_keys ADD COLUMN last_used_at BIGINT',
  'CREATE INDEX api_keys_by_user ON api_keys (user_id, created_at, id)',

  'ALTER TABLE signing_keys ADD COLUMN accepted_until BIGINT',

  `CREATE TABLE audit_log (
     id TEXT PRIMARY KEY, at BIGINT NOT NULL, action TEXT NOT NULL, actor_user_id TEXT,
     actor_key_id TEXT, subject_id TEXT, user_id TEXT, address TEXT, details TEXT NOT NULL)`,
  'CREATE INDEX audit_log_by_age ON audit_log (at, id)',
]
