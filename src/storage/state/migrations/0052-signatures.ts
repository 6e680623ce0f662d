import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Signatures of what is attached, and the keys that the service signs it with. */
export const signatures: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE signatures (
    id TEXT PRIMARY KEY,
    owner_id TEXT NOT NULL,
    signer_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    attachment_id TEXT NOT NULL,
    by_service INTEGER NOT NULL,
    algorithm TEXT NOT NULL,
    key_id TEXT NOT NULL,
    public_key TEXT NOT NULL,
    signature TEXT NOT NULL,
    cid TEXT NOT NULL DEFAULT '',
    ready INTEGER NOT NULL,
    ledger TEXT NOT NULL,
    network TEXT NOT NULL,
    status TEXT NOT NULL,
    tx_hash TEXT NOT NULL DEFAULT '',
    progress TEXT NOT NULL,
    failure TEXT
  )`,
  'CREATE INDEX signatures_of_attachment ON signatures (attachment_id, created_at, id)',
  "CREATE INDEX signatures_of_content ON signatures (cid, created_at, id) WHERE cid <> ''",
  // One of each key; of the service, one for each user. What has failed is in nobody's way.
  `CREATE UNIQUE INDEX signatures_of_key ON signatures (attachment_id, key_id)
    WHERE by_service = 0 AND status <> 'FAILED'`,
  `CREATE UNIQUE INDEX signatures_of_service ON signatures (attachment_id, signer_id)
    WHERE by_service = 1 AND status <> 'FAILED'`,
  "CREATE INDEX signatures_waiting ON signatures (id) WHERE status = 'SERVICE_RECEIVED'",
  'CREATE INDEX signatures_ready ON signatures (created_at, id) WHERE ready = 1',
  // An attachment that waits for its file no more has it, or never will.
  `CREATE TRIGGER signatures_get_ready AFTER UPDATE OF upload_due_at ON attachments
    WHEN OLD.upload_due_at IS NOT NULL AND NEW.upload_due_at IS NULL BEGIN
    UPDATE signatures SET ready = 1
      WHERE attachment_id = NEW.id AND status = 'SERVICE_RECEIVED'; END`,
  `CREATE TABLE content_keys (
    kid TEXT PRIMARY KEY,
    x TEXT NOT NULL,
    private_key_encrypted BLOB,
    created_at BIGINT NOT NULL,
    signing_since BIGINT NOT NULL,
    retired_at BIGINT
  )`,
  // Whether an address is confirmed follows from the recipients of its user.
  'ALTER TABLE user_credentials DROP COLUMN validated',
  // Two never sign at one time.
  'CREATE UNIQUE INDEX content_keys_signing ON content_keys (retired_at IS NULL) WHERE retired_at IS NULL',
]
