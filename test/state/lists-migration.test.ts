import { expect, test } from 'vitest'
import { openStateForWriting } from '../../src/storage/state/database.ts'
import { everybody, totalOf } from '../../src/storage/state/totals.ts'
import { openOldState } from '../support/old-state.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

test('lists that were there before are counted, and found by their names', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('state.db')
  const old = await openOldState(path, ['0001-first-slice', '0002-who-asks'])
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
