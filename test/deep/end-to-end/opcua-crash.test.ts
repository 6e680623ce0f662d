import { describe, expect, test } from 'vitest'
import { opcUaCredentials } from '../../../scripts/servers/opcua.ts'
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
    const credentials = opcUaCredentials
    const load = { services, peer, credentials, kills: 22, perLife: 150 }
    const { counters, readings, published } = await killedFollower(load)
    expect(counters).toMatchObject({ received: published, duplicates: 0, quarantined: 0 })
    expect(readings).toMatchObject(followedReadings(published))
  })
})
