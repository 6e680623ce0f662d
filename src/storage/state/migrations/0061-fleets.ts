import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Fleets: one definition for the data streams of many devices. */
export const fleets: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE fleets (
    id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    vault_id TEXT NOT NULL,
    name TEXT NOT NULL,
    name_folded TEXT NOT NULL,
    topic TEXT,
    device_field TEXT,
    definition TEXT NOT NULL,
    tags TEXT NOT NULL,
    version BIGINT NOT NULL,
    settled_version BIGINT NOT NULL,
    streams_max BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    changed_by TEXT NOT NULL,
    ended_at BIGINT,
    ended_by TEXT,
    ending TEXT
  )`,
  // Protocols that know no ids name a fleet by its name.
  'CREATE UNIQUE INDEX fleets_by_name ON fleets (owner_id, name_folded)',
  'CREATE INDEX fleets_of_vault ON fleets (vault_id)',
  'CREATE INDEX fleets_unsettled ON fleets (id) WHERE ended_at IS NOT NULL OR settled_version < version',
  `CREATE TABLE fleet_devices (
    fleet_id TEXT NOT NULL,
    name TEXT NOT NULL,
    stream_id TEXT,
    version BIGINT NOT NULL,
    failed_version BIGINT,
    created_at BIGINT NOT NULL,
    denied_at BIGINT,
    PRIMARY KEY (fleet_id, name)
  ) WITHOUT ROWID`,
  'CREATE UNIQUE INDEX fleet_devices_by_stream ON fleet_devices (stream_id) WHERE stream_id IS NOT NULL',
  'CREATE INDEX fleet_devices_by_version ON fleet_devices (fleet_id, version) WHERE stream_id IS NOT NULL',
  // Names that are denied before anything came from them: few, and counted.
  'CREATE INDEX fleet_devices_without_stream ON fleet_devices (fleet_id) WHERE stream_id IS NULL',
  'ALTER TABLE provisioning_keys ADD COLUMN fleet_id TEXT',
]
