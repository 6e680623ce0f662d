import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiClient } from '../../support/api-client.ts'
import { namedInSqlite } from '../../support/files-naming.ts'
import { untilGone } from '../../support/left-behind.ts'
import { PassingGuest } from '../../support/passing-guest.ts'
import { Receiver } from '../../support/receiver.ts'
import type { ServiceProcess } from '../../support/service-process.ts'
import { SettableClock } from '../../support/settable-clock.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()
const clock = new SettableClock()

const dayMs = 24 * 3_600_000

/** What may name a user who has left more than a month ago, and why. */
const mayName: readonly (readonly [place: RegExp, why: string])[] = [
  [/^state.db audit_log\.\w+$/, 'who did what, for as long as the audit log is kept'],
  [/^state.db idempotency_keys\.user_id$/, 'a day of running, which has not passed'],
  [/^state.db idempotent_answers\.\w+$/, 'a day of running, which has not passed'],
]

let receiver: Receiver

beforeAll(async () => {
  receiver = await Receiver.start()
})

afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
  clock[Symbol.dispose]()
})

test('of a user who is deleted nothing is left a month later, in no column of any table', async () => {
  const dataDir = services.newFolder()
  const first = await started(dataDir)
  const { http, mqttPort } = first
  const needs = { api: new ApiClient(http), mqttPort, receiver, streams: 3 }
  const guest = await PassingGuest.arrive(needs)
  await guest.use()
  await guest.settle()
  await guest.leave()
  await untilGone(first)
  const { userId } = guest.person
  const named = () => namedInSqlite(dataDir, 'state.db', [userId]).map(({ place }) => place)
  expect(named()).toContain('state.db users.id')
  // What is counted still would be told a month later, and be kept for another one.
  await expect
    .poll(named, { timeout: 240_000, interval: 500 })
    .not.toContain('state.db coalesced_events.owner_id')
  await first.end('SIGTERM')
  clock.step(31 * dayMs)

  // What has entries, or deliveries, leaves after them.
  const second = await started(dataDir)
  await expect.poll(named, { timeout: 240_000, interval: 500 }).not.toContain(inbox)
  await second.end('SIGTERM')
  const third = await started(dataDir)
  await expect.poll(named, { timeout: 240_000, interval: 500 }).not.toContain('state.db users.id')
  await expect
    .poll(() => named().filter((place) => !mayName.some(([expected]) => expected.test(place))), {
      timeout: 240_000,
      interval: 500,
    })
    .toEqual([])
  await third.end('SIGTERM')
  expect(namedInSqlite(dataDir, 'mqtt-sessions.db', [userId])).toEqual([])
})

const inbox = 'state.db inbox_entries.owner_id'

async function started(dataDir: string): Promise<ServiceProcess> {
  return await services.start(dataDir, {
    ...clock.environment,
    STREAMVAULT_EGRESS_ALLOW: receiver.destination,
  })
}
