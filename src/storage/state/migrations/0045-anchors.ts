import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * What is put on ledgers.
 *
 * What is there already is noted, and anchored in portions once the service runs.
 */
export const anchors: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

function counted(row: 'OLD' | 'NEW', difference: 1 | -1): string {
  return `INSERT INTO anchor_counts VALUES (${row}.network, ${row}.state, ${difference})
    ON CONFLICT DO UPDATE SET anchors = anchors + ${difference}`
}

const statements = [
  `CREATE TABLE anchors (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    resource_type TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    ledger TEXT NOT NULL,
    network TEXT NOT NULL,
    kind TEXT NOT NULL,
    uri TEXT,
    asset_code TEXT,
    quiet INTEGER NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    begun_at BIGINT NOT NULL,
    transaction_hash TEXT,
    first_leaf INTEGER NOT NULL DEFAULT 0,
    failure TEXT,
    UNIQUE (resource_id, operation)
  )`,
  'CREATE INDEX anchors_by_state ON anchors (network, state, number)',
  // Counted while they change, because counting a million rows would take too long.
  `CREATE TABLE anchor_counts (
    network TEXT NOT NULL,
    state TEXT NOT NULL,
    anchors INTEGER NOT NULL,
    PRIMARY KEY (network, state)
  ) WITHOUT ROWID`,
  `CREATE TRIGGER anchors_counted_insert AFTER INSERT ON anchors BEGIN
    ${counted('NEW', 1)}; END`,
  `CREATE TRIGGER anchors_counted_update AFTER UPDATE OF state ON anchors
    WHEN OLD.state <> NEW.state BEGIN ${counted('OLD', -1)}; ${counted('NEW', 1)}; END`,
  `CREATE TRIGGER anchors_counted_delete AFTER DELETE ON anchors BEGIN
    ${counted('OLD', -1)}; END`,
  'CREATE INDEX anchors_by_transaction ON anchors (transaction_hash, first_leaf)',
  `CREATE TABLE anchor_leaves (
    anchor_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    cid TEXT NOT NULL,
    created_at BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (anchor_id, position)
  ) WITHOUT ROWID`,
  'CREATE INDEX anchor_leaves_by_cid ON anchor_leaves (cid, created_at)',
  `CREATE TABLE anchor_transactions (
    hash TEXT PRIMARY KEY,
    network TEXT NOT NULL,
    account TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    attempt INTEGER NOT NULL,
    intent_id TEXT NOT NULL,
    blob TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    signed_at BIGINT NOT NULL,
    inclusion TEXT,
    leaves TEXT,
    UNIQUE (network, account, sequence, attempt)
  )`,
  `CREATE INDEX anchor_transactions_open ON anchor_transactions (network, account, sequence)
    WHERE state = 'open'`,
  `CREATE TABLE ledger_accounts (
    network TEXT NOT NULL,
    account TEXT NOT NULL,
    next_sequence BIGINT NOT NULL,
    PRIMARY KEY (network, account)
  ) WITHOUT ROWID`,
  `CREATE TABLE metadata (
    resource_id TEXT PRIMARY KEY,
    cid TEXT NOT NULL,
    bytes BLOB NOT NULL
  )`,
  `CREATE TABLE verifications (
    id TEXT PRIMARY KEY,
    vault_id TEXT NOT NULL UNIQUE,
    requested_at BIGINT NOT NULL
  )`,
  `CREATE TABLE unanchored (
    resource_type TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    PRIMARY KEY (resource_type, resource_id)
  ) WITHOUT ROWID`,
  ...['asset_streams', 'attachments', 'vaults'].map(
    (table) => `ALTER TABLE ${table} ADD COLUMN network TEXT NOT NULL DEFAULT 'sandbox'`,
  ),
  ...[
    'cid',
    'metadata_cid',
    'tx_hash',
    'nft_network_id',
    'nft_network_issuer',
    'nft_network_owner',
  ].map((column) => `ALTER TABLE vaults ADD COLUMN ${column} TEXT NOT NULL DEFAULT ''`),
  "ALTER TABLE vaults ADD COLUMN progress TEXT NOT NULL DEFAULT '[]'",
  'ALTER TABLE vaults ADD COLUMN failure TEXT',
  "ALTER TABLE templates ADD COLUMN metadata_cid TEXT NOT NULL DEFAULT ''",
  'ALTER TABLE events ADD COLUMN quiet INTEGER NOT NULL DEFAULT 0',
  'UPDATE vaults SET progress = json_array(json_array(status, created_at))',
  `INSERT INTO unanchored SELECT 'asset_stream', id FROM asset_streams`,
  `INSERT INTO unanchored SELECT 'attachment', id FROM attachments WHERE status = 'METADATA_STORED'`,
  `INSERT INTO unanchored SELECT 'vault', id FROM vaults`,
]
