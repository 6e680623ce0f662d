import { expect, test } from 'vitest'
import { bodyOf } from '../../src/outbox/events/event-body.ts'
import type { EventType } from '../../src/outbox/events/event-types.ts'
import { openStateForWriting } from '../../src/storage/state/database.ts'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { openOldState } from '../support/old-state.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

test('events that were there before are told with the same bytes, and only to who is ACTIVE', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('state.db')
  const before = Object.keys(migrations).filter((name) => name < '0028')
  const old = await openOldState(path, before)
  const body =
    '{"event_type":"vault.created","timestamp":"2023-11-14T22:13:20.123456","data":{"id":"v1"}}'
  old.exec(`INSERT INTO events (id, owner_id, type, at, resource_type, resource_id, data, body)
    VALUES ('e', 'ada', 'vault.created', 1700000000123456, 'vault', 'v1', '{"id":"v1"}', '${body}')`)
  for (const [id, status] of [
    ['w1', 'ACTIVE'],
    ['w2', 'PAUSED'],
  ]) {
    old.exec(`INSERT INTO webhooks (id, owner_id, interface, created_at, url, event_types,
        secrets_encrypted, filters, status, timeout_ms, retry_count, retry_delay_ms)
      VALUES ('${id}', 'ada', 'bearer', 0, 'http://a/', '["vault.created"]', x'', '{}',
        '${status}', 1, 2, 3)`)
    old.exec(`INSERT INTO webhook_subscriptions VALUES ('ada', 'vault.created', '${id}')`)
  }
  old.close()

  const state = await openStateForWriting(path)

  const [event] = await state.selectFrom('events').selectAll().execute()
  if (!event) throw new Error('the event is gone')
  const { id, type, at: atUs, data } = event
  expect(bodyOf({ id, type: type as EventType, atUs, data })).toBe(body)
  const asking = await state.selectFrom('webhook_subscriptions').select('webhook_id').execute()
  expect(asking).toEqual([{ webhook_id: 'w1' }])
  const versions = await state.selectFrom('webhooks').select('version').execute()
  expect(versions).toEqual([{ version: 1 }, { version: 1 }])
  await state.destroy()
})
