import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Networks of which somebody was told that there is hardly any money left. */
export const ledgerWarnings: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw('CREATE TABLE ledger_warnings (network TEXT PRIMARY KEY, told_at BIGINT NOT NULL)')
      .execute(db)
  },
}
