import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Readings that a filter keeps from being stored are counted. */
export const transforms: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql
      .raw('ALTER TABLE stream_counters ADD COLUMN filtered BIGINT NOT NULL DEFAULT 0')
      .execute(db)
  },
}
