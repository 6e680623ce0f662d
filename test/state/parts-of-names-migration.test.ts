import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { UserId } from '../../src/core/ids.ts'
import { LocalStateWriter, openStateForWriting } from '../../src/storage/state/database.ts'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { VaultStore } from '../../src/twins/vaults/vault-store.ts'
import { openOldState } from '../support/old-state.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

/** More than one portion of those that SQLite cannot fold. */
const vaults = 2_500

test('vaults that were there before are found by a part of their names, in any case', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('state.db')
  const earlier = Object.keys(migrations).filter((name) => name < '0048')
  const old = await openOldState(path, earlier)
  old.exec(`INSERT INTO users (id, username, created_at) VALUES ('u', 'ada', 0);
    INSERT INTO templates (id, owner_id, created_at, name, name_folded, status, public, hint,
        required_streams)
      VALUES ('t', 'u', 1, 'Boiler', 'boiler', 'UPLOAD_PENDING', 1, '', '[]');
    INSERT INTO vaults (id, owner_id, created_at, template_id, name, status, ledger, public)
      WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${vaults})
      SELECT 'v' || n, 'u', n, 't', 'GRÖßE ' || n, 'SERVICE_RECEIVED', 'XRPL', 1 FROM numbers;
    INSERT INTO vaults (id, owner_id, created_at, template_id, name, status, ledger, public)
      VALUES ('w', 'u', 0, 't', 'PUMP', 'SERVICE_RECEIVED', 'XRPL', 1)`)
  old.close()

  const state = await openStateForWriting(path)
  const writer = new LocalStateWriter(state, async () => () => undefined)
  const store = new VaultStore({ state, writer, clock: systemClock })
  const find = async (contains: string) => {
    const wish = { after: undefined, limit: vaults + 2, contains }
    return (await store.listAfter('u' as UserId, wish)).map(({ name }) => name)
  }

  expect(await find('größe')).toHaveLength(vaults)
  expect(await find('größe 1234')).toEqual(['GRÖßE 1234'])
  expect(await find('pum')).toEqual(['PUMP'])
  await state.destroy()
})
