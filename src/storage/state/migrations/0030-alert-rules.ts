import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Alert rules of many streams, the streams that have to be looked at for them, and those left out. */
export const alertRules: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE alert_rules (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, name TEXT NOT NULL, vault_id TEXT,
     tags TEXT NOT NULL, rule TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
     revision INTEGER NOT NULL)`,
  'CREATE INDEX alert_rules_of_owner ON alert_rules (owner_id, created_at, id)',
  `CREATE TABLE alert_rule_changes (stream_id TEXT PRIMARY KEY, changes INTEGER NOT NULL)`,
  `CREATE TABLE alert_rule_omissions (
     rule_id TEXT NOT NULL, stream_id TEXT NOT NULL, reason TEXT NOT NULL,
     PRIMARY KEY (rule_id, stream_id))`,
  'CREATE INDEX alert_rule_omissions_of_stream ON alert_rule_omissions (stream_id)',
]
