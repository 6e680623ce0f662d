import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What owners let others do with their vaults and asset streams. */
export const permissions: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE permissions (
    id TEXT PRIMARY KEY,
    resource_type TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    resource_created_at INTEGER NOT NULL,
    owner_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    role TEXT NOT NULL,
    granted_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    ended_by TEXT
  )`,
  // What a request asks: whether somebody may do something with a resource. There is one of each.
  'CREATE UNIQUE INDEX permissions_of_resource ON permissions (resource_id, user_id)',
  // What is shared with somebody, in the order of lists.
  `CREATE INDEX permissions_of_user
    ON permissions (user_id, resource_type, resource_created_at, resource_id, expires_at)`,
  'CREATE INDEX permissions_of_owner ON permissions (owner_id)',
  'CREATE INDEX permissions_by_end ON permissions (expires_at) WHERE expires_at IS NOT NULL',
]
