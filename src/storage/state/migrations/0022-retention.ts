import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** How long data is kept: of a stream, and of all streams of a vault that say nothing of their own. */
export const retention: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = ['data_streams', 'vaults'].flatMap((table) => [
  `ALTER TABLE ${table} ADD COLUMN kept_raw TEXT`,
  `ALTER TABLE ${table} ADD COLUMN kept_aggregated TEXT`,
  `CREATE INDEX ${table}_by_retention ON ${table} (id)
     WHERE kept_raw IS NOT NULL OR kept_aggregated IS NOT NULL`,
])
