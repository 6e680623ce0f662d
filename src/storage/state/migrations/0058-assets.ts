import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Assets that are issued on ledgers, in several transactions and by several accounts. */
export const assets: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE assets (
    id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    stream_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    supply TEXT NOT NULL,
    precision INTEGER NOT NULL,
    ledger TEXT NOT NULL,
    network TEXT NOT NULL,
    metadata_cid TEXT NOT NULL,
    token_id TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL,
    tx_hash TEXT NOT NULL DEFAULT '',
    progress TEXT NOT NULL,
    failure TEXT
  )`,
  'CREATE INDEX assets_of_stream ON assets (stream_id, created_at, id)',
  // An asset stream has one at a time. What has failed is in nobody's way.
  "CREATE UNIQUE INDEX assets_alive ON assets (stream_id) WHERE status <> 'FAILED'",
  'ALTER TABLE anchors ADD COLUMN asset TEXT',
  "ALTER TABLE anchors ADD COLUMN role TEXT NOT NULL DEFAULT 'issuer'",
]
