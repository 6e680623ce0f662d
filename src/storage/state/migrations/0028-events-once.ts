import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Events are stored once: their bodies are made of their data. Subscriptions are those of webhooks that
 * are told something. Webhooks have versions, so that one change cannot undo another unseen. Of many
 * events at once some wait, to be told one user after the other.
 */
export const eventsOnce: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  'ALTER TABLE events DROP COLUMN body',
  `DELETE FROM webhook_subscriptions
     WHERE webhook_id IN (SELECT id FROM webhooks WHERE status <> 'ACTIVE')`,
  'ALTER TABLE webhooks ADD COLUMN version BIGINT NOT NULL DEFAULT 1',
  'CREATE INDEX events_waiting ON events (owner_id, at, id) WHERE fanned_out = 3',
]
