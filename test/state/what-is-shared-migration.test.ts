import { expect, test } from 'vitest'
import { openStateForWriting } from '../../src/storage/state/database.ts'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { openOldState } from '../support/old-state.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

test('what was shared before is counted by holder and kind, with what is over and not ended yet', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('state.db')
  const before = Object.keys(migrations).filter((name) => name < '0055')
  const old = await openOldState(path, before)
  for (const [id, type, holder, expiresAtUs] of [
    ['p1', 'vault', 'bob', 'NULL'],
    ['p2', 'vault', 'bob', '0'],
    ['p3', 'asset_stream', 'bob', 'NULL'],
    ['p4', 'vault', 'eve', 'NULL'],
  ]) {
    old.exec(`INSERT INTO permissions (id, resource_type, resource_id, resource_created_at, owner_id,
        user_id, role, granted_by, created_at, expires_at)
      VALUES ('${id}', '${type}', 'of ${id}', 1, 'ada', '${holder}', 'READ', 'ada', 1, ${expiresAtUs})`)
  }
  old.close()

  const state = await openStateForWriting(path)

  const totals = state.selectFrom('totals').selectAll().where('list', 'like', 'shared%')
  expect(await totals.orderBy('owner_id').orderBy('list').execute()).toEqual([
    { list: 'shared_asset_streams', owner_id: 'bob', total: 1 },
    { list: 'shared_vaults', owner_id: 'bob', total: 2 },
    { list: 'shared_vaults', owner_id: 'eve', total: 1 },
  ])
  await state.destroy()
})
