import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Naming, namedInDuckDb, namedInSqlite } from './files-naming.ts'
import { metricsOf } from './metrics.ts'
import type { PassingGuest } from './passing-guest.ts'
import type { ServiceProcess } from './service-process.ts'

/** What may name a stream that is gone, and why. */
const mayName: readonly (readonly [place: RegExp, why: string])[] = [
  [/^state.db data_stream_deletions\.stream_id$/, 'the note of its end, for 30 days'],
  [/^state.db events\.(resource_id|stream_id|data)$/, 'events are kept as long as deliveries'],
  [/^state.db inbox_entries\.(resource_id|stream_id|data|body|url|link)$/, 'inboxes keep 30 days'],
  [/^state.db (deliveries|delivery_attempts)\.\w+$/, 'deliveries are kept for 30 days'],
  [/^state.db idempotent_answers\.path$/, 'a repetition within 24 hours gets the same answer'],
  [/^state.db (export_jobs|export_files|import_jobs)\.\w+$/, 'jobs that are kept, for 7 days'],
  [/^state.db coalesced_events\.\w+$/, 'told within a second, and gone a second later'],
  [/^journal.db batches\.payload$/, 'the newest 64 MiB stay for those who follow streams'],
]

interface Totals {
  readonly received: number
  readonly settled: number
  readonly stored: number
}

/** What was ever received, and what became of it. */
export async function totals(service: ServiceProcess): Promise<Totals> {
  const value = await metricsOf(service)
  const terms = ['stored_total', 'duplicate_total', 'unchanged_total', 'ever_filtered', 'discarded']
  const settled = terms.reduce((sum, term) => sum + value(`readings_${term}`), 0)
  const stored = value('readings_stored_total')
  const quarantined = value('quarantine_entries')
  return { received: value('readings_received'), settled: settled + quarantined, stored }
}

/** At rest all that was received is settled, whether its stream is there or not. */
export function sumOf({ received, settled, stored }: Totals) {
  return { received, isSettled: settled === received, stored }
}

export async function atHand(service: ServiceProcess) {
  const value = await metricsOf(service)
  return {
    stored: value('stored_streams'),
    shipper: value('shipper_streams'),
    decider: value('decider_streams'),
    alerts: value('alert_streams'),
    cache: value('stream_cache_entries'),
    followed: value('mqtt_followed_streams'),
    topics: value('mqtt_topic_names'),
  }
}

export async function untilGone(service: ServiceProcess): Promise<void> {
  for (;;) {
    const value = await metricsOf(service)
    if (value('stream_deletions_pending') === 0 && value('stored_streams') === 0) return
    await sleep(50)
  }
}

/** Resolves when so many streams of a guest are deleted. */
export async function untilDeleted(
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

export async function unexpected(
  dataDir: string,
  ids: readonly string[],
): Promise<readonly Naming[]> {
  const files = ['state.db', 'mqtt-sessions.db', 'journal.db']
  const found = [
    ...files.flatMap((file) => namedInSqlite(dataDir, file, ids)),
    ...(await namedInDuckDb(join(dataDir, 'time-series.duckdb'), ids)),
  ]
  return found.filter(({ place }) => !mayName.some(([expected]) => expected.test(place)))
}
