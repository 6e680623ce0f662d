import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Accounts that are nearly empty, instead of networks: some have two. */
export const warnedAccounts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  'ALTER TABLE ledger_warnings RENAME TO earlier_warnings',
  `CREATE TABLE ledger_warnings (
    network TEXT NOT NULL,
    role TEXT NOT NULL,
    told_at BIGINT NOT NULL,
    PRIMARY KEY (network, role)
  ) WITHOUT ROWID`,
  "INSERT INTO ledger_warnings SELECT network, 'issuer', told_at FROM earlier_warnings",
  'DROP TABLE earlier_warnings',
]
