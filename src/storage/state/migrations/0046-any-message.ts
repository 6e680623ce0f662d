import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What is known of a refused message beside its bytes, and what keys and devices do on topics that are not theirs. */
export const anyMessage: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  'ALTER TABLE quarantine ADD COLUMN context TEXT',
  'ALTER TABLE api_keys ADD COLUMN foreign_topics TEXT',
  'ALTER TABLE devices ADD COLUMN foreign_topics TEXT',
  'ALTER TABLE provisioning_keys ADD COLUMN foreign_topics TEXT',
]
