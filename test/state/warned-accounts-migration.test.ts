import { expect, test } from 'vitest'
import { openStateForWriting } from '../../src/storage/state/database.ts'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { openOldState } from '../support/old-state.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

test('who was told of a network before was told of its issuer', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('state.db')
  const before = Object.keys(migrations).filter((name) => name < '0060')
  const old = await openOldState(path, before)
  old.exec("INSERT INTO ledger_warnings VALUES ('xrpl:1', 7)")
  old.close()

  const state = await openStateForWriting(path)
  const warnings = state.selectFrom('ledger_warnings').selectAll()
  expect(await warnings.execute()).toEqual([{ network: 'xrpl:1', role: 'issuer', told_at: 7 }])
  await state.destroy()
})
