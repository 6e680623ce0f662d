import { describe, expect, test } from 'vitest'
import { opcUaCredentials } from '../../../scripts/servers/opcua.ts'
import { AsyncuaTestServer, isAsyncuaMissing } from '../../support/asyncua-server.ts'
import {
  followedReadings,
  followedVariables,
  killedFollower,
} from '../../support/killed-follower.ts'
import { OpcUaTestServer } from '../../support/opcua-server.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()
const variables = followedVariables

describe('a service that follows a server of OPC UA and is killed, with values of one time in several notifications', () => {
  test('node-opcua: loses no value, doubles none, and parts none', async () => {
    await using peer = await OpcUaTestServer.start({ variables })
    const more = { credentials: opcUaCredentials }
    const load = { services, peer, more, kills: 2, perLife: 400 }
    const { counters, readings, published } = await killedFollower(load)
    expect(counters).toMatchObject({ received: published, duplicates: 0, quarantined: 0 })
    expect(readings).toMatchObject(followedReadings(published))
  })

  test.skipIf(isAsyncuaMissing)(
    'asyncua, which forgets what it sends again: doubles nothing, and loses nothing that it does not tell of',
    async () => {
      await using peer = await AsyncuaTestServer.start({ variables })
      const load = { services, peer, more: { sessionTimeout: 600_000 }, kills: 2, perLife: 400 }
      const { counters, readings, published } = await killedFollower(load)
      expect(counters).toMatchObject({ received: readings.length + counters.quarantined })
      expect(counters.duplicates).toBe(0)
      if (counters.quarantined === 0) {
        expect(readings).toMatchObject(followedReadings(published))
      }
    },
  )
})
