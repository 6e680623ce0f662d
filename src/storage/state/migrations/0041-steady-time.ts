import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Steady time, and what is measured by it: waits that go on whatever is done to the wall clock. */
export const steadyTime: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE steady_time (
     id INTEGER PRIMARY KEY, boot_id TEXT NOT NULL, machine_at BIGINT NOT NULL,
     steady_at BIGINT NOT NULL, wall_at BIGINT NOT NULL)`,
  `CREATE TABLE alert_time (
     id INTEGER PRIMARY KEY, ahead BIGINT NOT NULL, since BIGINT NOT NULL)`,
  'ALTER TABLE alert_memories ADD COLUMN muted_until BIGINT',
  'CREATE INDEX alert_memories_muted ON alert_memories (muted_until) WHERE muted_until IS NOT NULL',
  'ALTER TABLE idempotency_keys ADD COLUMN remembered_at BIGINT NOT NULL DEFAULT 0',
  'UPDATE idempotency_keys SET remembered_at = received_at',
  'DROP INDEX idempotency_keys_by_age',
  'CREATE INDEX idempotency_keys_by_age ON idempotency_keys (remembered_at)',
  'ALTER TABLE inbox_entries ADD COLUMN noted_at BIGINT NOT NULL DEFAULT 0',
  'UPDATE inbox_entries SET noted_at = created_at',
  'DROP INDEX inbox_entries_of_resource',
  `CREATE INDEX inbox_entries_of_resource
     ON inbox_entries (owner_id, resource_id, event_type, noted_at)`,
]
