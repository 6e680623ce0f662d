import { DatabaseSync } from 'node:sqlite'
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { Migration } from 'kysely/migration'
import { migrations } from '../../src/storage/state/migrations/index.ts'

/** A state as an earlier release has left it: with these migrations, and none of the later ones. */
export async function openOldState(path: string, names: readonly string[]): Promise<DatabaseSync> {
  const old = new DatabaseSync(path)
  old.exec('CREATE TABLE kysely_migration (name TEXT PRIMARY KEY, timestamp TEXT NOT NULL)')
  for (const name of names) {
    for (const statement of await statementsOf(migrations[name] as Migration)) old.exec(statement)
    old.exec(`INSERT INTO kysely_migration VALUES ('${name}', '2026-01-01T00:00:00Z')`)
  }
  return old
}

/** The statements of a migration, run nowhere. */
async function statementsOf(migration: Migration): Promise<readonly string[]> {
  const statements: string[] = []
  const nowhere = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new SqliteIntrospector(database),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
    log: ({ query }) => {
      // What a migration asks of rows it asks for nothing here: there are none yet.
      if (!/^\s*SELECT\b/.test(query.sql)) statements.push(query.sql)
    },
  })
  await migration.up(nowhere)
  return statements
}
