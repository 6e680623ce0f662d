import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { namedInSqlite } from '../support/files-naming.ts'
import { atHand, sumOf, totals, unexpected, untilGone } from '../support/left-behind.ts'
import { metricsOf } from '../support/metrics.ts'
import { PassingGuest } from '../support/passing-guest.ts'
import { Receiver } from '../support/receiver.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

let receiver: Receiver

beforeAll(async () => {
  receiver = await Receiver.start()
})

afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
})

test('of streams that are deleted nothing is left, but what is kept for some days and the totals', async () => {
  const dataDir = services.newFolder()
  const allowed = {
    STREAMVAULT_EGRESS_ALLOW: receiver.destination,
    STREAMVAULT_SEAL_GRACE: '100ms',
  }
  const service = await services.start(dataDir, allowed)
  const { http, mqttPort } = service
  const needs = { api: new ApiClient(http), mqttPort, receiver, streams: 12 }
  const guest = await PassingGuest.arrive(needs)
  await guest.use()
  await guest.settle()
  await expect.poll(async () => (await metricsOf(service))('seals_made_total')).toBeGreaterThan(0)
  const before = await totals(service)
  await guest.leave()
  await untilGone(service)

  expect(sumOf(await totals(service))).toEqual(sumOf(before))
  expect(await atHand(service)).toEqual({
    stored: 0,
    shipper: 0,
    decider: 0,
    alerts: 0,
    cache: 0,
    followed: 0,
    // The note that the guest has sent to itself.
    topics: 1,
  })
  await service.end('SIGTERM')
  expect(await unexpected(dataDir, [...guest.streamIds, ...guest.assetStreamIds])).toEqual([])
  expect(namedInSqlite(dataDir, 'mqtt-sessions.db', [guest.person.userId])).toEqual([])
})
