import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What the decider has counted of the streams that have left: one row. */
export const departedStreams: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

const statements = [
  `CREATE TABLE departed_counters (
     received BIGINT NOT NULL, accepted BIGINT NOT NULL, filtered BIGINT NOT NULL,
     discarded BIGINT NOT NULL)`,
  'INSERT INTO departed_counters VALUES (0, 0, 0, 0)',
]
