import { expect, test } from 'vitest'
import { placeOfEntry } from '../../../console/src/routing/entry-place.ts'

const about = { resource_id: 'r1', vault_id: null, stream_id: null }

test.each([
  ['vault.permission.granted', 'vault_permission', { vault_id: 'v1' }, '/console/vaults/v1'],
  ['vault.permission.updated', 'vault_permission', { vault_id: 'v1' }, '/console/vaults/v1'],
  [
    'stream.permission.granted',
    'stream_permission',
    { stream_id: 's1' },
    '/console/record/asset-stream/s1',
  ],
  // It is seen no more by those from whom it was taken.
  ['vault.permission.revoked', 'vault_permission', { vault_id: 'v1' }, undefined],
  ['stream.permission.revoked', 'stream_permission', { stream_id: 's1' }, undefined],
  // Nothing was written beside it.
  ['vault.permission.granted', 'vault_permission', {}, undefined],
  ['vault.created', 'vault', { vault_id: 'r1' }, '/console/vaults/r1'],
  ['vault.deleted', 'vault', { vault_id: 'r1' }, undefined],
])('an entry about %s of a %s with %j leads to %s', (event, type, places, path) => {
  const entry = { ...about, ...places, event_type: event, resource_type: type }
  expect(placeOfEntry(entry)).toBe(path)
})
