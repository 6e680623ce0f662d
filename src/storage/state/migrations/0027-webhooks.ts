import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Webhooks, and what they were sent. */
export const webhooks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE webhooks (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, interface TEXT NOT NULL,
     created_at BIGINT NOT NULL, url TEXT NOT NULL, event_types TEXT NOT NULL, description TEXT,
     secrets_encrypted BLOB NOT NULL, filters TEXT NOT NULL, status TEXT NOT NULL,
     consecutive_failures INTEGER NOT NULL DEFAULT 0, last_delivery_at BIGINT,
     recorded_attempts BIGINT NOT NULL DEFAULT 0,
     timeout_ms INTEGER NOT NULL, retry_count INTEGER NOT NULL, retry_delay_ms INTEGER NOT NULL)`,
  'CREATE INDEX webhooks_by_owner ON webhooks (owner_id, created_at, id)',
  `CREATE TABLE webhook_subscriptions (
     owner_id TEXT NOT NULL, event_type TEXT NOT NULL, webhook_id TEXT NOT NULL,
     PRIMARY KEY (owner_id, event_type, webhook_id))`,
  'CREATE INDEX webhook_subscriptions_by_type ON webhook_subscriptions (event_type, owner_id)',
  'CREATE INDEX webhook_subscriptions_by_webhook ON webhook_subscriptions (webhook_id)',
  `CREATE TABLE deliveries (
     id TEXT PRIMARY KEY, event_id TEXT NOT NULL, webhook_id TEXT NOT NULL,
     owner_id TEXT NOT NULL, event_type TEXT NOT NULL, resource_id TEXT NOT NULL,
     created_at BIGINT NOT NULL, state TEXT NOT NULL, phase TEXT NOT NULL,
     attempts INTEGER NOT NULL, attempts_max INTEGER NOT NULL, due_at BIGINT, lease TEXT,
     last_attempt_at BIGINT, body TEXT)`,
  'CREATE UNIQUE INDEX deliveries_of_event ON deliveries (event_id, webhook_id)',
  'CREATE INDEX deliveries_of_webhook ON deliveries (webhook_id, created_at, id)',
  `CREATE INDEX deliveries_due_of_webhook ON deliveries (webhook_id, due_at)
     WHERE due_at IS NOT NULL`,
  `CREATE INDEX deliveries_due_of_resource ON deliveries (webhook_id, resource_id)
     WHERE due_at IS NOT NULL`,
  'CREATE INDEX deliveries_due ON deliveries (due_at) WHERE due_at IS NOT NULL',
  'CREATE INDEX deliveries_leased ON deliveries (lease) WHERE lease IS NOT NULL',
  'CREATE INDEX deliveries_by_time ON deliveries (created_at)',
  `CREATE TABLE delivery_attempts (
     delivery_id TEXT NOT NULL, attempt INTEGER NOT NULL, webhook_id TEXT NOT NULL,
     event_id TEXT NOT NULL, event_type TEXT NOT NULL, attempted_at BIGINT NOT NULL,
     duration_us BIGINT NOT NULL, status_code INTEGER, delivered INTEGER NOT NULL,
     message TEXT NOT NULL, next_attempt_at BIGINT, request_headers TEXT NOT NULL,
     response_excerpt TEXT NOT NULL, PRIMARY KEY (delivery_id, attempt))`,
  `CREATE INDEX delivery_attempts_of_webhook
     ON delivery_attempts (webhook_id, attempted_at, delivery_id)`,
  'CREATE INDEX delivery_attempts_by_time ON delivery_attempts (attempted_at)',
]
