import { expect, test } from 'vitest'
import { NoticeSequences } from '../../src/alerts/notice-sequences.ts'
import { openStateForWriting } from '../../src/storage/state/database.ts'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { openOldState } from '../support/old-state.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

test('rules and alerts of before go on, and what they tell from now on is numbered from 1 on', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('state.db')
  const before = Object.keys(migrations).filter((name) => name < '0035')
  const old = await openOldState(path, before)
  old.exec(`INSERT INTO alert_memories (stream_id, version, newest_version, fleet_rules, memories, digests)
    VALUES ('s', 1, 1, '[]', '{"hot":{"state":"firing"}}', '[]')`)
  old.exec(`INSERT INTO alerts (id, stream_id, owner_id, vault_id, rule_id, rule, severity, state, value,
      threshold, created_at, is_flapping, steps)
    VALUES ('a', 's', 'ada', 'v', 'hot', '{}', 'info', 'firing', '1', '0', 0, 0, 1)`)
  old.close()

  const state = await openStateForWriting(path)

  const memory = await state.selectFrom('alert_memories').selectAll().executeTakeFirstOrThrow()
  expect(memory.memories).toBe('{"hot":{"state":"firing"}}')
  expect(new NoticeSequences(memory.sequences).next('hot')).toBe(1)
  const alert = await state.selectFrom('alerts').selectAll().executeTakeFirstOrThrow()
  expect([alert.state, alert.sequence]).toEqual(['firing', null])
  await state.destroy()
})
