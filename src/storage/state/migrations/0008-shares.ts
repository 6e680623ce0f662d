import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What each user may have of what all share, and numbers that lists of users tell. */
export const shares: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  'CREATE INDEX audit_log_by_user ON audit_log (user_id, at, id)',
  `INSERT INTO totals SELECT 'users', '', count(*) FROM users WHERE deleted_at IS NULL`,
]
