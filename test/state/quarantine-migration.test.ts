import { expect, test } from 'vitest'
import type { StreamId, UserId } from '../../src/core/ids.ts'
import { OwnerQuarantine } from '../../src/ingest/quarantine/owner-quarantine.ts'
import { everything, QuarantineStore } from '../../src/ingest/quarantine/quarantine-store.ts'
import { openStateForWriting } from '../../src/storage/state/database.ts'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { openOldState } from '../support/old-state.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

test('refused readings that were there before are kept, and known by their offsets', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('state.db')
  const old = await openOldState(path, ['0001-first-slice', '0002-who-asks', '0003-lists'])
  old.exec(`INSERT INTO stream_counters VALUES ('s', 9, 4, 2, 3, 2, 5, 70, 0, 9)`)
  old.exec(`INSERT INTO quarantine VALUES
    (1, 's', 40, 1, 'malformed', 'no JSON', '[]', x'ff00', NULL, 60, 'mqtt gateway'),
    (2, 's', 50, 2, 'schema_mismatch', 'too hot', '[{"path":"t","message":"no"}]', x'7b7d7d', 8, 70, 'http')`)
  old.close()

  const state = await openStateForWriting(path)

  const range = { after: -1, limits: { entries: 10, payloadBytes: 1_000 } }
  const page = await new QuarantineStore(state).page('s' as StreamId, everything, range)
  const shared = { format: 'json', isElement: false }
  expect(page.entries.map((held) => ({ ...held, payload: [...held.payload] }))).toEqual([
    {
      ...shared,
      id: 40,
      reason: 'malformed',
      message: 'no JSON',
      details: [],
      payload: [0xff, 0],
      timestampUs: undefined,
      receivedAtUs: 60,
      source: 'mqtt gateway',
    },
    {
      ...shared,
      id: 50,
      reason: 'schema_mismatch',
      message: 'too hot',
      details: [{ path: 't', message: 'no' }],
      payload: [0x7b, 0x7d, 0x7d],
      timestampUs: 8,
      receivedAtUs: 70,
      source: 'http',
    },
  ])
  const sizes = await state.selectFrom('quarantine').select('payload_bytes').execute()
  expect(sizes).toEqual([{ payload_bytes: 2 }, { payload_bytes: 3 }])
  expect(await state.selectFrom('stream_counters').selectAll().executeTakeFirst()).toMatchObject({
    received: 9,
    accepted: 4,
    quarantined: 2,
    discarded: 3,
    quarantine_bytes: 5,
    is_discarding: 1,
  })
  await state.destroy()
})

test('refused readings that were there before are counted for the owners of their streams', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('state.db')
  const before = Object.keys(migrations).filter((name) => name < '0047')
  const old = await openOldState(path, before)
  old.exec(`PRAGMA foreign_keys = OFF; INSERT INTO data_streams
    (id, owner_id, vault_id, name, type, created_at, version) VALUES ('s', 'ada', 'v', 's', 't', 0, 1)`)
  const columns = `stream_id, journal_offset, stream_version, reason, message, details, source,
    received_at, is_element, payload_bytes, payload`
  old.exec(`INSERT INTO quarantine (${columns}) VALUES
    ('s', 1, 1, 'malformed', '', '[]', '', 10, 0, 0, x''),
    ('s', 2, 1, 'malformed', '', '[]', '', 20, 0, 0, x''),
    ('s', 3, 1, 'schema_mismatch', '', '[]', '', 30, 0, 0, x''),
    ('gone', 4, 1, 'malformed', '', '[]', '', 40, 0, 0, x'')`)
  old.close()

  const state = await openStateForWriting(path)

  const quarantine = new OwnerQuarantine(state)
  const ada = 'ada' as UserId
  const limits = { entries: 10, payloadBytes: 10 }
  const all = { streamId: undefined, reasons: [], startUs: undefined, endUs: undefined }
  const page = await quarantine.page(ada, all, { before: undefined, limits })
  expect(page.entries.map(({ id }) => id)).toEqual([3, 2, 1])
  expect(await quarantine.counts(ada)).toEqual({
    entries: 3,
    reasons: [
      { reason: 'malformed', entries: 2 },
      { reason: 'schema_mismatch', entries: 1 },
    ],
  })
  await state.destroy()
})
