import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Which key has asked for an export or an import: not known of those that there are. */
export const whoAskedForJobs: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ['export_jobs', 'import_jobs']) {
      await sql.raw(`ALTER TABLE ${table} ADD COLUMN created_by TEXT`).execute(db)
    }
  },
}
