import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Users, keys, templates, vaults, data streams, and what the decider keeps. */
export const firstSlice: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE users (
     id TEXT PRIMARY KEY, username TEXT NOT NULL UNIQUE, created_at BIGINT NOT NULL)`,
  `CREATE TABLE api_keys (
     id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users(id),
     secret_digest TEXT NOT NULL, scopes TEXT NOT NULL, created_at BIGINT NOT NULL)`,
  `CREATE TABLE signing_keys (
     kid TEXT PRIMARY KEY, public_key TEXT NOT NULL, private_key_encrypted BLOB NOT NULL,
     created_at BIGINT NOT NULL)`,
  `CREATE TABLE templates (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL REFERENCES users(id), created_at BIGINT NOT NULL,
     name TEXT NOT NULL, description TEXT, author TEXT, status TEXT NOT NULL,
     public INTEGER NOT NULL, hint TEXT NOT NULL, required_streams TEXT NOT NULL)`,
  'CREATE INDEX templates_by_owner ON templates (owner_id, created_at, id)',
  'CREATE INDEX templates_public ON templates (public, created_at, id)',
  `CREATE TABLE vaults (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL REFERENCES users(id), created_at BIGINT NOT NULL,
     template_id TEXT NOT NULL REFERENCES templates(id), name TEXT NOT NULL, description TEXT,
     status TEXT NOT NULL, ledger TEXT NOT NULL, public INTEGER NOT NULL, json_payload TEXT)`,
  'CREATE INDEX vaults_by_owner ON vaults (owner_id, created_at, id)',
  `CREATE TABLE data_streams (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL REFERENCES users(id),
     vault_id TEXT NOT NULL REFERENCES vaults(id), name TEXT NOT NULL, type TEXT NOT NULL,
     created_at BIGINT NOT NULL, version INTEGER NOT NULL)`,
  'CREATE INDEX data_streams_by_owner ON data_streams (owner_id, created_at, id)',
  `CREATE TABLE data_stream_versions (
     stream_id TEXT NOT NULL REFERENCES data_streams(id), version INTEGER NOT NULL,
     definition TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (stream_id, version))`,
  `CREATE TABLE idempotency_keys (
     user_id TEXT NOT NULL, stream_id TEXT NOT NULL, key TEXT NOT NULL,
     body_digest TEXT NOT NULL, received_at BIGINT NOT NULL,
     PRIMARY KEY (user_id, stream_id, key))`,
  'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (received_at)',
  'CREATE TABLE consumer_positions (consumer TEXT PRIMARY KEY, next_offset BIGINT NOT NULL)',
  `CREATE TABLE stream_counters (
     stream_id TEXT PRIMARY KEY, received BIGINT NOT NULL, accepted BIGINT NOT NULL,
     quarantined BIGINT NOT NULL, discarded BIGINT NOT NULL, quarantine_entries BIGINT NOT NULL,
     quarantine_bytes BIGINT NOT NULL, last_received_at BIGINT NOT NULL, day INTEGER NOT NULL,
     received_on_day BIGINT NOT NULL)`,
  `CREATE TABLE quarantine (
     id INTEGER PRIMARY KEY AUTOINCREMENT, stream_id TEXT NOT NULL, journal_offset BIGINT NOT NULL,
     stream_version INTEGER NOT NULL, reason TEXT NOT NULL, message TEXT NOT NULL,
     details TEXT NOT NULL, payload BLOB NOT NULL, timestamp BIGINT, received_at BIGINT NOT NULL,
     source TEXT NOT NULL)`,
  'CREATE INDEX quarantine_by_stream ON quarantine (stream_id, id)',
]
