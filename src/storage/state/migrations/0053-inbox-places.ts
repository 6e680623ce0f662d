import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** The vault or stream that an entry of an inbox is about, where its resource is something of that, such as a permission. */
export const inboxPlaces: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`ALTER TABLE inbox_entries ADD COLUMN vault_id TEXT`.execute(db)
    await sql`ALTER TABLE inbox_entries ADD COLUMN stream_id TEXT`.execute(db)
  },
}
