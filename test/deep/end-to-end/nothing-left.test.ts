import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { sumOf, totals, unexpected, untilDeleted, untilGone } from '../../support/left-behind.ts'
import { PassingGuest } from '../../support/passing-guest.ts'
import { Receiver } from '../../support/receiver.ts'
import type { ServiceProcess } from '../../support/service-process.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()

/** Each of them leaves while the service is killed. */
const guestsCount = 8

let receiver: Receiver

beforeAll(async () => {
  receiver = await Receiver.start()
})

afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
})

test('nothing is left of streams whose deletion was killed in the middle, and totals add up', async () => {
  const dataDir = services.newFolder()
  let service = await started(dataDir)
  const guests: PassingGuest[] = []
  for (let index = 0; index < guestsCount; index++) guests.push(await arrived(service))
  for (const guest of guests) {
    await guest.use()
    await guest.settle()
  }
  const before = await totals(service)
  for (const [index, guest] of guests.entries()) {
    const leaving = guest.leave().catch(() => undefined)
    // Between the first deletion and the last removal, each time elsewhere.
    await untilDeleted(service, guest, 1 + ((index * 5) % 12))
    await service.end('SIGKILL')
    await leaving
    service = await started(dataDir)
    const { http, mqttPort } = service
    for (const other of guests.slice(index)) {
      await other.returnTo({ api: new ApiClient(http), mqttPort })
    }
    await guest.leave()
  }
  await untilGone(service)

  expect(sumOf(await totals(service))).toEqual(sumOf(before))
  await service.end('SIGTERM')
  const ids = guests.flatMap(({ streamIds }) => streamIds)
  expect(await unexpected(dataDir, ids)).toEqual([])
})

async function started(dataDir: string): Promise<ServiceProcess> {
  return await services.start(dataDir, { STREAMVAULT_EGRESS_ALLOW: receiver.destination })
}

async function arrived({ http, mqttPort }: ServiceProcess): Promise<PassingGuest> {
  return await PassingGuest.arrive({ api: new ApiClient(http), mqttPort, receiver, streams: 12 })
}
