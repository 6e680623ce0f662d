import { describe, expect, test } from 'vitest'
import { opcUaCredentials } from '../../../scripts/servers/opcua.ts'
import { AsyncuaTestServer, isAsyncuaMissing } from '../../support/asyncua-server.ts'
import {
  accountedValues,
  followedReadings,
  followedVariables,
  killedFollower,
  publishedValues,
} from '../../support/killed-follower.ts'
import { OpcUaTestServer } from '../../support/opcua-server.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()
const variables = followedVariables

describe('a service that follows a server of OPC UA and is killed, with values of one time in several notifications', () => {
  test('node-opcua: loses no value, doubles none, and parts none', async () => {
    await using peer = await OpcUaTestServer.start({ variables })
    const more = { credentials: opcUaCredentials }
    const load = { services, peer, more, kills: 22, perLife: 150 }
    const { counters, readings, published } = await killedFollower(load)
    expect(counters).toMatchObject({ received: published, duplicates: 0, quarantined: 0 })
    expect(readings).toMatchObject(followedReadings(published))
  })

  test.skipIf(isAsyncuaMissing)(
    'asyncua, which forgets what it sends again: doubles nothing, and tells of each value that is lost by that',
    async () => {
      await using peer = await AsyncuaTestServer.start({ variables })
      const more = { sessionTimeout: 600_000 }
      const load = { services, peer, more, kills: 22, perLife: 150 }
      const followed = await killedFollower(load)
      const { counters, readings, published } = followed
      expect(counters).toMatchObject({ received: readings.length + counters.quarantined })
      expect(counters.duplicates).toBe(0)
      // Each kill can cost one notification at most: that which was being sent again.
      expect(followed.lost.length).toBeLessThanOrEqual(load.kills)
      expect(await accountedValues(followed, peer)).toEqual(publishedValues(published))
    },
  )
})
