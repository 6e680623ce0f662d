import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { type Naming, namedInDuckDb, namedInSqlite } from '../support/files-naming.ts'
import { PassingGuest } from '../support/passing-guest.ts'
import { Receiver } from '../support/receiver.ts'
import type { ServiceProcess } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

/** What may name a stream that is gone, and why. */
const mayName: readonly (readonly [place: RegExp, why: string])[] = [
  [/^state.db data_stream_deletions\.stream_id$/, 'the note of its end, for 30 days'],
  [/^state.db events\.(resource_id|stream_id|data)$/, 'events are kept as long as deliveries'],
  [/^state.db inbox_entries\.(resource_id|data|body|url|link)$/, 'inboxes keep 30 days'],
  [/^state.db (deliveries|delivery_attempts)\.\w+$/, 'deliveries are kept for 30 days'],
  [/^state.db idempotent_answers\.path$/, 'a repetition within 24 hours gets the same answer'],
  [/^state.db (export_jobs|export_files|import_jobs)\.\w+$/, 'jobs that are kept, for 7 days'],
  [/^state.db coalesced_events\.\w+$/, 'told within a second, and gone a second later'],
  [/^journal.db batches\.payload$/, 'the newest 64 MiB stay for those who follow streams'],
]

let receiver: Receiver

beforeAll(async () => {
  receiver = await Receiver.start()
})

afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
})

test('of streams that are deleted nothing is left, but what is kept for some days and the totals', async () => {
  const dataDir = services.newFolder()
  const service = await started(dataDir)
  const guest = await arrived(service)
  await guest.use()
  await guest.settle()
  const before = await totals(service)
  await guest.leave()
  await untilGone(service)

  expect(sumOf(await totals(service))).toEqual(sumOf(before))
  expect(await atHand(service)).toEqual({ stored: 0, shipper: 0, decider: 0, alerts: 0, cache: 0 })
  await service.end('SIGTERM')
  expect(await unexpected(dataDir, guest.streamIds)).toEqual([])
})

test('nor after kills in the middle of it, and totals add up', async () => {
  const dataDir = services.newFolder()
  let service = await started(dataDir)
  const guests = [await arrived(service), await arrived(service), await arrived(service)]
  for (const guest of guests) {
    await guest.use()
    await guest.settle()
  }
  const before = await totals(service)
  for (const [index, guest] of guests.entries()) {
    const leaving = guest.leave().catch(() => undefined)
    // Between the first deletion and the last removal, each time elsewhere.
    await untilDeleted(service, guest, (index + 1) * 3)
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

async function metrics({ http }: ServiceProcess): Promise<(name: string) => number> {
  const text = await (await fetch(`${http}/metrics`)).text()
  return (name) => Number(new RegExp(`^streamvault_${name} (\\S+)$`, 'm').exec(text)?.[1])
}

interface Totals {
  readonly received: number
  readonly settled: number
  readonly stored: number
}

/** What was ever received, and what became of it. */
async function totals(service: ServiceProcess): Promise<Totals> {
  const value = await metrics(service)
  const terms = ['stored_total', 'duplicate_total', 'unchanged_total', 'filtered', 'discarded']
  const settled = terms.reduce((sum, term) => sum + value(`readings_${term}`), 0)
  const stored = value('readings_stored_total')
  const quarantined = value('quarantine_entries')
  return { received: value('readings_received'), settled: settled + quarantined, stored }
}

/** At rest all that was received is settled, whether its stream is there or not. */
function sumOf({ received, settled, stored }: Totals) {
  return { received, isSettled: settled === received, stored }
}

async function atHand(service: ServiceProcess) {
  const value = await metrics(service)
  return {
    stored: value('stored_streams'),
    shipper: value('shipper_streams'),
    decider: value('decider_streams'),
    alerts: value('alert_streams'),
    cache: value('stream_cache_entries'),
  }
}

async function untilGone(service: ServiceProcess): Promise<void> {
  for (;;) {
    const value = await metrics(service)
    if (value('stream_deletions_pending') === 0 && value('stored_streams') === 0) return
    await sleep(50)
  }
}

/** Resolves when so many streams of a guest are deleted. */
async function untilDeleted(
  { http }: ServiceProcess,
  { person, streamIds }: PassingGuest,
  count: number,
): Promise<void> {
  const authorization = `Bearer ${await person.token()}`
  for (;;) {
    const answers = streamIds.map((id) =>
      fetch(`${http}/streams/${id}`, { headers: { authorization } }),
    )
    const found = await Promise.all(answers)
    if (found.filter(({ status }) => status === 404).length >= count) return
  }
}

async function unexpected(dataDir: string, ids: readonly string[]): Promise<readonly Naming[]> {
  const files = ['state.db', 'mqtt-sessions.db', 'journal.db']
  const found = [
    ...files.flatMap((file) => namedInSqlite(dataDir, file, ids)),
    ...(await namedInDuckDb(join(dataDir, 'time-series.duckdb'), ids)),
  ]
  return found.filter(({ place }) => !mayName.some(([expected]) => expected.test(place)))
}
