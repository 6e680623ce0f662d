import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Alerts, what the rules remember of each stream, and rules of fleets. */
export const alerts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE alerts (
     id TEXT PRIMARY KEY, stream_id TEXT NOT NULL, owner_id TEXT NOT NULL, vault_id TEXT NOT NULL,
     rule_id TEXT NOT NULL, rule TEXT NOT NULL, field TEXT, severity TEXT NOT NULL,
     state TEXT NOT NULL, value TEXT NOT NULL, threshold TEXT NOT NULL,
     created_at BIGINT NOT NULL, triggered_at BIGINT, cleared_at BIGINT, ended_at BIGINT,
     acknowledged_at BIGINT, acknowledged_by TEXT, muted_until BIGINT,
     is_flapping INTEGER NOT NULL, steps INTEGER NOT NULL)`,
  // One alert per rule and stream at a time (decisions.md#one-alert-at-a-time).
  `CREATE UNIQUE INDEX alerts_open ON alerts (stream_id, rule_id) WHERE state <> 'cleared'`,
  `CREATE INDEX alerts_open_of_owner ON alerts (owner_id, vault_id, state, severity)
     WHERE state <> 'cleared'`,
  'CREATE INDEX alerts_of_owner ON alerts (owner_id, created_at, id)',
  'CREATE INDEX alerts_in_state ON alerts (owner_id, state, created_at, id)',
  'CREATE INDEX alerts_of_stream ON alerts (stream_id, created_at, id)',
  'CREATE INDEX alerts_ended ON alerts (ended_at) WHERE ended_at IS NOT NULL',
  `CREATE TABLE alert_history (
     alert_id TEXT NOT NULL, step INTEGER NOT NULL, stream_id TEXT NOT NULL, cause TEXT NOT NULL,
     from_state TEXT NOT NULL, to_state TEXT NOT NULL, journal_offset BIGINT NOT NULL,
     received_at BIGINT NOT NULL, at BIGINT NOT NULL, value TEXT NOT NULL, threshold TEXT NOT NULL,
     reading TEXT, user_id TEXT, api_key_id TEXT, comment TEXT, muted_until BIGINT,
     action_id TEXT, event_id TEXT, PRIMARY KEY (alert_id, step))`,
  'CREATE INDEX alert_history_of_stream ON alert_history (stream_id)',
  `CREATE TABLE alert_memories (
     stream_id TEXT PRIMARY KEY, version INTEGER NOT NULL, newest_version INTEGER NOT NULL,
     fleet_rules TEXT NOT NULL,
     memories TEXT NOT NULL, digests TEXT NOT NULL, due_at BIGINT)`,
  'CREATE INDEX alert_memories_due ON alert_memories (due_at) WHERE due_at IS NOT NULL',
  `CREATE INDEX alert_memories_behind ON alert_memories (stream_id)
     WHERE newest_version > version`,
  'CREATE TABLE alert_messages (event_id TEXT PRIMARY KEY)',
  'ALTER TABLE events ADD COLUMN severity TEXT',
  // These change with nearly every reading of a stream with rules, as the counters do anyway.
  'ALTER TABLE stream_counters ADD COLUMN alert_time BIGINT NOT NULL DEFAULT 0',
  'ALTER TABLE stream_counters ADD COLUMN alert_received_at BIGINT NOT NULL DEFAULT 0',
  'ALTER TABLE stream_counters ADD COLUMN late_for_alerts BIGINT NOT NULL DEFAULT 0',
]
