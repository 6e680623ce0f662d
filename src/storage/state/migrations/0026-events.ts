import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What has happened, what users want to be told of it, and their inboxes. */
export const events: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE events (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, type TEXT NOT NULL, at BIGINT NOT NULL,
     resource_type TEXT NOT NULL, resource_id TEXT NOT NULL,
     vault_id TEXT, stream_id TEXT, template_id TEXT,
     data TEXT NOT NULL, body TEXT NOT NULL, fanned_out INTEGER NOT NULL DEFAULT 0)`,
  `CREATE TABLE coalesced_events (
     type TEXT NOT NULL, resource_id TEXT NOT NULL, owner_id TEXT NOT NULL,
     vault_id TEXT NOT NULL, stream_id TEXT, count BIGINT NOT NULL, last_at BIGINT NOT NULL,
     due_at BIGINT NOT NULL, PRIMARY KEY (type, resource_id))`,
  'CREATE INDEX coalesced_events_due ON coalesced_events (due_at)',
  'CREATE INDEX events_not_told ON events (at, id) WHERE fanned_out = 0',
  'CREATE INDEX events_by_time ON events (at)',
  'CREATE INDEX events_of_owner ON events (owner_id, at, id)',
  `CREATE TABLE notification_preferences (
     owner_id TEXT PRIMARY KEY, preferences TEXT NOT NULL)`,
  `CREATE TABLE inboxes (
     owner_id TEXT PRIMARY KEY, newest BIGINT NOT NULL,
     read_through BIGINT NOT NULL DEFAULT 0, archived_through BIGINT NOT NULL DEFAULT 0,
     minute BIGINT NOT NULL, written INTEGER NOT NULL)`,
  `CREATE TABLE inbox_entries (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, position BIGINT NOT NULL,
     created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, hour BIGINT NOT NULL,
     event_id TEXT NOT NULL, type TEXT NOT NULL, event_type TEXT NOT NULL,
     title TEXT NOT NULL, message TEXT NOT NULL,
     resource_type TEXT NOT NULL, resource_id TEXT NOT NULL,
     read_at BIGINT, archived_at BIGINT)`,
  `CREATE INDEX inbox_entries_listed ON inbox_entries (owner_id, position, expires_at, id)
     WHERE archived_at IS NULL`,
  `CREATE INDEX inbox_entries_unread ON inbox_entries (owner_id, position, expires_at, id)
     WHERE archived_at IS NULL AND read_at IS NULL`,
  `CREATE INDEX inbox_entries_read ON inbox_entries (owner_id, position)
     WHERE archived_at IS NULL AND read_at IS NOT NULL`,
  `CREATE INDEX inbox_entries_of_resource
     ON inbox_entries (owner_id, resource_id, event_type, created_at)`,
  'CREATE INDEX inbox_entries_of_hour ON inbox_entries (owner_id, hour)',
  'CREATE INDEX inbox_entries_by_expiry ON inbox_entries (expires_at)',
  `CREATE TABLE inbox_counts (
     owner_id TEXT NOT NULL, hour BIGINT NOT NULL, listed INTEGER NOT NULL,
     unread INTEGER NOT NULL, PRIMARY KEY (owner_id, hour))`,
]
