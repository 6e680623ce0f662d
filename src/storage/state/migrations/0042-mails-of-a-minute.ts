import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** How many mails were written for an address in a minute of steady time, as for an inbox. */
export const mailsOfAMinute: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  'ALTER TABLE email_recipients ADD COLUMN minute BIGINT NOT NULL DEFAULT 0',
  'ALTER TABLE email_recipients ADD COLUMN written BIGINT NOT NULL DEFAULT 0',
]
