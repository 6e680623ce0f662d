import { DatabaseSync } from 'node:sqlite'
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import type { Migration } from 'kysely/migration'
import { expect, test } from 'vitest'
import { openStateForWriting } from '../../src/state/database.ts'
import { migrations } from '../../src/state/migrations/index.ts'
import { everybody, totalOf } from '../../src/state/totals.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

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
      statements.push(query.sql)
    },
  })
  await migration.up(nowhere)
  return statements
}

test('lists that were there before are counted, and found by their names', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('state.db')
  const old = new DatabaseSync(path)
  old.exec('CREATE TABLE kysely_migration (name TEXT PRIMARY KEY, timestamp TEXT NOT NULL)')
  for (const name of ['0001-first-slice', '0002-who-asks']) {
    for (const statement of await statementsOf(migrations[name] as Migration)) old.exec(statement)
    old.exec(`INSERT INTO kysely_migration VALUES ('${name}', '2026-01-01T00:00:00Z')`)
  }
  old.exec(`INSERT INTO users (id, username, created_at) VALUES ('u', 'ada', 0), ('v', 'bob', 0)`)
  old.exec(`INSERT INTO templates VALUES
    ('t1', 'u', 1, 'Boiler', NULL, NULL, 'UPLOAD_PENDING', 1, '', '[]'),
    ('t2', 'u', 2, 'Pump', NULL, NULL, 'UPLOAD_PENDING', 0, '', '[]'),
    ('t3', 'v', 3, 'Valve', NULL, NULL, 'UPLOAD_PENDING', 1, '', '[]')`)
  old.exec(`INSERT INTO vaults VALUES
    ('x', 'v', 1, 't1', 'boiler 7', NULL, 'SERVICE_RECEIVED', 'XRPL', 1, NULL)`)
  old.exec(`INSERT INTO idempotency_keys VALUES ('v', 's', 'k', 'd', 1)`)
  old.close()

  const state = await openStateForWriting(path)

  expect(await totalOf(state, 'users', everybody)).toBe(2)
  expect(await totalOf(state, 'templates', 'u')).toBe(2)
  expect(await totalOf(state, 'templates', 'v')).toBe(1)
  expect(await totalOf(state, 'public_templates', everybody)).toBe(2)
  expect(await totalOf(state, 'vaults', 'v')).toBe(1)
  expect(await totalOf(state, 'receipts', 'v')).toBe(1)
  const names = await state.selectFrom('templates').select('name_folded').orderBy('id').execute()
  expect(names.map((row) => row.name_folded)).toEqual(['boiler', 'pump', 'valve'])
  await state.destroy()
})
