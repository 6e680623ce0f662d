import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** How far the source of a stream has been read, as JSON. */
export const sourcePositions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql.raw('ALTER TABLE stream_sources ADD COLUMN position TEXT').execute(db)
  },
}
