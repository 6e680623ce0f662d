import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Credentials of devices, and the keys that new devices register with. */
export const devices: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE devices (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL REFERENCES users(id), name TEXT NOT NULL,
     name_folded TEXT NOT NULL, secret_digest TEXT NOT NULL, previous_digest TEXT,
     previous_until BIGINT, rotated_at BIGINT, created_at BIGINT NOT NULL, created_by TEXT NOT NULL,
     expires_at BIGINT, revoked_at BIGINT, client_id TEXT, certificate_name TEXT,
     readings_per_second DOUBLE PRECISION, burst BIGINT, vault_id TEXT, serial TEXT,
     may_register_again INTEGER NOT NULL DEFAULT 0, last_seen_at BIGINT, last_seen_address TEXT,
     last_seen_protocol TEXT)`,
  'CREATE INDEX devices_by_owner ON devices (owner_id, created_at, id, name_folded)',
  `CREATE UNIQUE INDEX devices_by_certificate ON devices (certificate_name)
     WHERE certificate_name IS NOT NULL`,
  `CREATE UNIQUE INDEX devices_by_serial ON devices (vault_id, serial) WHERE serial IS NOT NULL`,
  `CREATE TABLE device_streams (
     device_id TEXT NOT NULL, stream_id TEXT NOT NULL, PRIMARY KEY (device_id, stream_id))`,
  'CREATE INDEX device_streams_by_stream ON device_streams (stream_id, device_id)',
  `CREATE TABLE provisioning_keys (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL REFERENCES users(id), vault_id TEXT NOT NULL,
     name TEXT NOT NULL, definition TEXT NOT NULL, secret_digest TEXT NOT NULL,
     created_at BIGINT NOT NULL, created_by TEXT NOT NULL, expires_at BIGINT, revoked_at BIGINT,
     devices_max BIGINT NOT NULL, devices_registered BIGINT NOT NULL DEFAULT 0,
     readings_per_second DOUBLE PRECISION, burst BIGINT, registrations_per_minute BIGINT NOT NULL)`,
  'CREATE INDEX provisioning_keys_by_vault ON provisioning_keys (vault_id, created_at, id)',
  'CREATE INDEX provisioning_keys_by_owner ON provisioning_keys (owner_id)',
]
