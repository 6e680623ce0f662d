import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Receipts look for what is known of one reading by its time. */
export const receipts: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  'CREATE INDEX quarantine_of_time ON quarantine (stream_id, timestamp, journal_offset)',
  'CREATE INDEX alert_history_of_time ON alert_history (stream_id, at)',
  'DROP INDEX alert_history_of_stream',
]
