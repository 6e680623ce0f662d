import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Asset streams, attachments, and the files of attachments, templates, vaults and users.
 *
 * Vaults, templates and users that are there already have no files.
 */
export const assetStreamsAndFiles: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE asset_streams (
    id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    asset_code TEXT NOT NULL,
    description TEXT,
    ledger TEXT NOT NULL,
    status TEXT NOT NULL,
    tx_hash TEXT NOT NULL DEFAULT '',
    issuer TEXT NOT NULL DEFAULT '',
    distribution_wallet TEXT NOT NULL DEFAULT '',
    mapping TEXT NOT NULL DEFAULT '',
    metadata_cid TEXT NOT NULL DEFAULT '',
    progress TEXT NOT NULL,
    failure TEXT
  )`,
  'CREATE UNIQUE INDEX asset_streams_by_code ON asset_streams (owner_id, asset_code)',
  'CREATE INDEX asset_streams_by_owner ON asset_streams (owner_id, created_at, id)',
  `CREATE TABLE vault_streams (
    vault_id TEXT NOT NULL REFERENCES vaults (id),
    position INTEGER NOT NULL,
    stream_id TEXT NOT NULL REFERENCES asset_streams (id),
    PRIMARY KEY (vault_id, position)
  ) WITHOUT ROWID`,
  'CREATE INDEX vault_streams_by_stream ON vault_streams (stream_id)',
  `CREATE TABLE attachments (
    id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL REFERENCES users (id),
    created_at BIGINT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    stream_id TEXT NOT NULL REFERENCES asset_streams (id),
    ledger TEXT NOT NULL,
    filename TEXT,
    upload_as_zip INTEGER NOT NULL,
    status TEXT NOT NULL,
    tx_hash TEXT NOT NULL DEFAULT '',
    cid TEXT NOT NULL DEFAULT '',
    size BIGINT NOT NULL DEFAULT 0,
    file_count INTEGER NOT NULL DEFAULT 0,
    progress TEXT NOT NULL,
    failure TEXT,
    upload_due_at BIGINT
  )`,
  'CREATE INDEX attachments_by_owner ON attachments (owner_id, created_at, id)',
  'CREATE INDEX attachments_by_stream ON attachments (stream_id, created_at, id)',
  `CREATE INDEX attachments_by_due_time ON attachments (upload_due_at)
    WHERE upload_due_at IS NOT NULL`,
  `CREATE TABLE files (
    holder_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    cid TEXT NOT NULL,
    PRIMARY KEY (holder_id, position)
  ) WITHOUT ROWID`,
  'CREATE INDEX files_by_cid ON files (cid)',
  `CREATE TABLE contents (
    cid TEXT PRIMARY KEY,
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    media_type TEXT NOT NULL,
    profile TEXT NOT NULL,
    created_at BIGINT NOT NULL
  ) WITHOUT ROWID`,
  "ALTER TABLE templates ADD COLUMN bundle_cid TEXT NOT NULL DEFAULT ''",
  'ALTER TABLE templates ADD COLUMN bundle_size BIGINT NOT NULL DEFAULT 0',
  'ALTER TABLE templates ADD COLUMN bundle_uploads INTEGER NOT NULL DEFAULT 0',
  "ALTER TABLE templates ADD COLUMN image_cid TEXT NOT NULL DEFAULT ''",
  'ALTER TABLE templates ADD COLUMN image_uploads INTEGER NOT NULL DEFAULT 0',
  "ALTER TABLE vaults ADD COLUMN default_image_cid TEXT NOT NULL DEFAULT ''",
  "ALTER TABLE vaults ADD COLUMN image_cid TEXT NOT NULL DEFAULT ''",
  'ALTER TABLE vaults ADD COLUMN image_uploads INTEGER NOT NULL DEFAULT 0',
  "ALTER TABLE users ADD COLUMN image_cid TEXT NOT NULL DEFAULT ''",
  'ALTER TABLE users ADD COLUMN image_uploads INTEGER NOT NULL DEFAULT 0',
  'CREATE TABLE released_contents (cid TEXT PRIMARY KEY) WITHOUT ROWID',
  // No code that takes a reference away can forget to look at what it was to.
  releasing('files', 'DELETE', 'cid'),
  ...['templates', 'vaults', 'users'].flatMap((table) => [
    releasing(table, 'DELETE', 'image_cid'),
    releasing(table, 'UPDATE', 'image_cid'),
  ]),
  releasing('vaults', 'DELETE', 'default_image_cid'),
  "CREATE INDEX templates_by_image ON templates (image_cid) WHERE image_cid <> ''",
  "CREATE INDEX vaults_by_default_image ON vaults (default_image_cid) WHERE default_image_cid <> ''",
  "CREATE INDEX vaults_by_image ON vaults (image_cid) WHERE image_cid <> ''",
  "CREATE INDEX users_by_image ON users (image_cid) WHERE image_cid <> ''",
]

/** A trigger that notes a content which a row has named, and does not name any more. */
function releasing(table: string, event: 'DELETE' | 'UPDATE', column: string): string {
  const of = event === 'UPDATE' ? ` OF ${column}` : ''
  return `CREATE TRIGGER ${table}_${event.toLowerCase()}_releases_${column}
    AFTER ${event}${of} ON ${table} WHEN OLD.${column} <> ''
    BEGIN INSERT OR IGNORE INTO released_contents (cid) VALUES (OLD.${column}); END`
}
