import { expect, test } from 'vitest'
import type { MqttDevice } from '../../connectors/mqtt-broker/caller.ts'
import { innerClientId } from '../../connectors/mqtt-broker/client-ids.ts'
import { newId, type UserId } from '../../src/core/ids.ts'

test('no client of a user can have the id that a device of the user has', () => {
  const userId = newId<UserId>()
  const streamIds: MqttDevice['streamIds'] = new Set()
  const device = { id: 'dev_1', streamIds, clientId: undefined, bucket: undefined }
  const ofUser = ['x', '/x', 'dev_1/x', '/dev_1/x', 'dev_1', 'dev_1/', '//x', '']
  const ids = [
    ...ofUser.map((clientId) => innerClientId({ userId }, clientId)),
    ...['x', '/x', '//x', 'dev_1/x'].map((clientId) => innerClientId({ userId, device }, clientId)),
  ]

  expect(new Set(ids).size).toBe(ids.length)
})
