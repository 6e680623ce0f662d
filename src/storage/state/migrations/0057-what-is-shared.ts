import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** How much is shared with each user, and deleted users whose permissions have not all been ended. */
export const whatIsShared: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `INSERT INTO totals
    SELECT CASE resource_type WHEN 'vault' THEN 'shared_vaults' ELSE 'shared_asset_streams' END,
      user_id, count(*)
    FROM permissions GROUP BY user_id, resource_type`,
  `CREATE TABLE departed_users (
    user_id TEXT PRIMARY KEY,
    departed_at BIGINT NOT NULL
  ) WITHOUT ROWID`,
  // All that says whether one counts, so that lists are passed within the index.
  'DROP INDEX permissions_of_user',
  `CREATE INDEX permissions_of_user ON permissions
    (user_id, resource_type, resource_created_at, resource_id, expires_at, owner_id)`,
  // What is in a total and in no list: those that are over, and those of owners who were deleted.
  `CREATE INDEX permissions_of_user_by_end ON permissions (user_id, resource_type, expires_at)
    WHERE expires_at IS NOT NULL`,
  'DROP INDEX permissions_of_owner',
  `CREATE INDEX permissions_of_owner ON permissions
    (owner_id, user_id, resource_type, expires_at)`,
]
