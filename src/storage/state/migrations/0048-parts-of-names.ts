import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Data streams in the order of their names, and vaults that are found by a part of theirs. */
export const partsOfNames: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
    await foldNames(db)
  },
}

const statements = [
  'CREATE INDEX data_streams_by_name ON data_streams (owner_id, name_folded, id)',
  `ALTER TABLE vaults ADD COLUMN name_folded TEXT NOT NULL DEFAULT ''`,
  'UPDATE vaults SET name_folded = lower(name)',
  'DROP INDEX vaults_by_owner',
  'CREATE INDEX vaults_by_owner ON vaults (owner_id, created_at, id, name_folded)',
]

/** Vaults of one portion. */
const portion = 1_000

/** SQLite folds no letters but those of ASCII. */
async function foldNames(db: Kysely<unknown>): Promise<void> {
  for (let after = ''; ; ) {
    const { rows } = await sql<{ readonly id: string; readonly name: string }>`
      SELECT id, name FROM vaults WHERE id > ${after} AND length(name) <> length(CAST(name AS BLOB))
      ORDER BY id LIMIT ${portion}`.execute(db)
    for (const { id, name } of rows) {
      await sql`UPDATE vaults SET name_folded = ${name.toLowerCase()} WHERE id = ${id}`.execute(db)
    }
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.id
  }
}
