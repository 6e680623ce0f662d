import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** How far nodes have said that they are: one that lags behind is known for that after a start, too. */
export const ledgerHeights: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(
        'CREATE TABLE ledger_heights (network TEXT PRIMARY KEY, head BIGINT NOT NULL, final BIGINT NOT NULL)',
      )
      .execute(db)
  },
}
