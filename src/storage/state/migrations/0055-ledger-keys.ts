import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Keys of accounts on real networks. */
export const ledgerKeys: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE ledger_keys (
    network TEXT NOT NULL,
    role TEXT NOT NULL,
    account TEXT NOT NULL,
    algorithm TEXT NOT NULL,
    public_key TEXT NOT NULL,
    private_key_encrypted BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (network, role)
  )`,
  // Nobody signs for an account but the one whose sequences are counted.
  'CREATE UNIQUE INDEX ledger_keys_of_account ON ledger_keys (network, account)',
]
