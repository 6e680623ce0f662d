import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Who sent a refused reading, where that is a part of what it is. */
export const quarantineSenders: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw('ALTER TABLE quarantine ADD COLUMN sender TEXT').execute(db)
  },
}
