import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Refused readings come in several formats: what is kept has to be readable again. */
export const formats: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw(`ALTER TABLE quarantine ADD COLUMN format TEXT NOT NULL DEFAULT 'json'`)
      .execute(db)
  },
}
