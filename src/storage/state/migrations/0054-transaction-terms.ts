import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * What a transaction is signed under: whatever was signed before is for the ledger of our own, which has no terms. The
 * next sequence of an account follows from the transactions: one that was refused is free again.
 */
export const transactionTerms: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`ALTER TABLE anchor_transactions ADD COLUMN terms TEXT NOT NULL DEFAULT ''`.execute(db)
    await sql`DROP TABLE ledger_accounts`.execute(db)
  },
}
