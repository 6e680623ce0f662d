import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Addresses that are told of events, and deliveries that lead to them as well as to webhooks. */
export const mail: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  'ALTER TABLE deliveries RENAME COLUMN webhook_id TO receiver_id',
  `ALTER TABLE deliveries ADD COLUMN channel TEXT NOT NULL DEFAULT 'webhook'`,
  'ALTER TABLE delivery_attempts RENAME COLUMN webhook_id TO receiver_id',
  'DROP INDEX deliveries_due',
  'CREATE INDEX deliveries_due ON deliveries (channel, due_at) WHERE due_at IS NOT NULL',
  `CREATE TABLE email_recipients (
     id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, created_at BIGINT NOT NULL,
     email TEXT NOT NULL, email_folded TEXT NOT NULL, status TEXT NOT NULL,
     verified_at BIGINT, severities TEXT NOT NULL, version INTEGER NOT NULL DEFAULT 1,
     consecutive_failures INTEGER NOT NULL DEFAULT 0, last_delivery_at BIGINT,
     recorded_attempts BIGINT NOT NULL DEFAULT 0)`,
  `CREATE UNIQUE INDEX email_recipients_of_owner
     ON email_recipients (owner_id, email_folded)`,
  `CREATE TABLE email_verifications (
     delivery_id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, email_folded TEXT NOT NULL,
     sent_at BIGINT NOT NULL)`,
  'CREATE INDEX email_verifications_of_owner ON email_verifications (owner_id, sent_at)',
  'CREATE INDEX email_verifications_of_email ON email_verifications (email_folded, sent_at)',
  'CREATE INDEX email_verifications_by_time ON email_verifications (sent_at)',
]
