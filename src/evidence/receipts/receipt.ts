import type { Static } from 'typebox'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { formatUs } from '../../core/time.ts'
import { streamKeyOf } from '../../ingest/pipeline/entry.ts'
import type { EntriesAt, EntriesAtRequest } from '../../reading/live/entries-at.ts'
import { hasWindows } from '../../reading/windows/defined-windows.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { ReadingsAt, ReadingsAtQuery } from '../../storage/time-series/readings-query.ts'
import type {
  RefusedReadingsPage,
  RefusedReadingsQuery,
} from '../../storage/time-series/refused-readings.ts'
import type { StoredCounts } from '../../storage/time-series/time-series-store.ts'
import type { DataStream } from '../../streams/data-streams/data-stream-store.ts'
import { isDeduplicated } from '../../streams/data-streams/deduplication.ts'
import { findReadings } from './find-readings.ts'
import type { FoundReading, Missing } from './found-reading.ts'
import { decidedUntil, refusalsAt } from './held-refusals.ts'
import { type AskWindows, type HoldingWindow, windowAt } from './holding-window.ts'
import { matchAlerts } from './match-alerts.ts'
import { type AlertStep, followingSteps, stepsAt } from './moved-alerts.ts'
import { receiptFormat, type receiptSchema } from './receipt-api.ts'
import { readingBody, type TracedReading } from './receipt-body.ts'
import { noticesOf, type SentEvent } from './sent-notices.ts'
import { StreamVersions } from './stream-versions.ts'

/** Readings of one time that a receipt is about. */
export const readingsMax = 100

/** Bytes of their values, about. */
const bytesMax = 4 * 1024 * 1024

export interface ReceiptNeeds {
  readonly state: StateDatabase
  /** Each may throw DomainError `store_unavailable`, `overloaded` or `query_too_slow`. */
  readonly store: {
    readingsAt(query: ReadingsAtQuery): Promise<ReadingsAt>
    readonly windows: AskWindows
  }
  readonly entriesAt: (request: EntriesAtRequest) => Promise<EntriesAt>
  readonly countsOf: (streamId: string) => Promise<StoredCounts>
  readonly refused: (query: RefusedReadingsQuery) => Promise<RefusedReadingsPage>
  readonly nowUs: () => number
}

interface Asked {
  readonly stream: DataStream
  readonly ownerId: UserId
  readonly timestampUs: number
}

/**
 * What happened to each reading of one time: all that is still known of it.
 *
 * @throws DomainError `not_found` where nothing is known of any
 */
export async function receiptOf(
  needs: ReceiptNeeds,
  asked: Asked,
): Promise<Static<typeof receiptSchema>> {
  const { stream, timestampUs } = asked
  const versions = new StreamVersions(needs.state, stream.id)
  const { found, hasMore, cut } = await readingsOf(needs, asked, versions)
  if (found.length === 0) throw noReading(stream.id, timestampUs)
  const traced = await tracesOf(needs, asked, { found, versions, cut })
  return {
    format: receiptFormat,
    streamId: stream.id,
    timestamp: formatUs(timestampUs),
    answeredAt: formatUs(needs.nowUs()),
    readings: traced.map(readingBody),
    hasMore,
  }
}

/** Those of the store first: an entry that comes behind its position is pending, and not unknown. */
async function readingsOf(
  needs: ReceiptNeeds,
  { stream: { id: streamId }, timestampUs }: Asked,
  versions: StreamVersions,
) {
  const { state, store } = needs
  const limits = { limit: readingsMax, bytesMax }
  const decided = await decidedUntil(state)
  const [counts, stored] = await Promise.all([
    needs.countsOf(streamId),
    store.readingsAt({ streamId, timestampUs, ...limits }),
  ])
  const streamKey = streamKeyOf(streamId)
  const journal = await needs.entriesAt({ streamKey, timestampUs, ...limits })
  const held = await refusalsAt(state, { streamId, timestampUs, limit: readingsMax })
  const moved = await stepsAt(state, streamId, timestampUs)
  const known = { timestampUs, stored, journal, held, counts, decidedUntil: decided }
  const found = findReadings({
    ...known,
    notTaken: await notTaken(needs, { streamId, counts, journal }),
    deduplicating: await deduplicating(versions, journal),
  })
  const all = matchAlerts(found, moved.steps, { timestampUs, counts, journal })
  const isCut = all.length > readingsMax || held.length === readingsMax
  return {
    found: all.slice(0, readingsMax),
    hasMore: stored.hasMore || journal.hasMore || isCut,
    cut: moved.hasMore,
  }
}

async function notTaken(
  { refused }: ReceiptNeeds,
  known: { streamId: string; counts: StoredCounts; journal: EntriesAt },
): Promise<ReadonlyMap<number, string>> {
  const messages = new Map<number, string>()
  if ((known.counts.refused ?? 0) === 0) return messages
  for (const { offset, values } of known.journal.entries) {
    if (values === undefined) continue
    const query = { streamId: known.streamId, after: offset - 1, limit: 1, bytesMax: 1 }
    const [first] = (await refused(query)).readings
    if (first?.entry === offset) messages.set(offset, first.message)
  }
  return messages
}

async function deduplicating(
  versions: StreamVersions,
  { entries }: EntriesAt,
): Promise<ReadonlySet<number>> {
  const numbers = new Set<number>()
  for (const number of new Set(entries.map(({ streamVersion }) => streamVersion))) {
    const facts = await versions.numbered(number)
    if (facts && isDeduplicated(facts.definition.processing)) numbers.add(number)
  }
  return numbers
}

interface Found {
  readonly found: readonly FoundReading[]
  readonly versions: StreamVersions
  /** Whether there are more steps of alerts. */
  readonly cut: boolean
}

async function tracesOf(
  needs: ReceiptNeeds,
  { stream, ownerId, timestampUs }: Asked,
  { found, versions, cut }: Found,
): Promise<readonly TracedReading[]> {
  const { state } = needs
  const following = await followingSteps(
    state,
    found.flatMap(({ steps }) => steps),
  )
  const stepsOf = ({ steps }: FoundReading) => [
    ...steps,
    ...following.filter((next) => steps.some((one) => isNext(one, next))),
  ]
  const steps = found.flatMap(stepsOf)
  const named = steps.flatMap(({ eventId, alertId }) => (eventId ? [{ eventId, alertId }] : []))
  const notices = await noticesOf(state, ownerId, named)
  const window = found.some(({ outcome }) => outcome === 'stored')
    ? await windowOf(needs, { stream, timestampUs }, versions)
    : undefined
  return await Promise.all(
    found.map(async (one): Promise<TracedReading> => {
      const own = stepsOf(one)
      const events = own.flatMap(({ eventId }) => notices.events.get(eventId ?? '') ?? [])
      return {
        found: one,
        stream,
        version: await versionOf(versions, one),
        window: one.outcome === 'stored' ? window : undefined,
        steps: own,
        events: [...new Set(events)],
        missing: missingOf(one, { events, isCut: cut || notices.hasMore }),
      }
    }),
  )
}

function isNext(one: AlertStep, next: AlertStep): boolean {
  return next.alertId === one.alertId && next.step === one.step + 1
}

async function windowOf(
  { store }: ReceiptNeeds,
  { stream, timestampUs }: { readonly stream: DataStream; readonly timestampUs: number },
  versions: StreamVersions,
): Promise<HoldingWindow | undefined> {
  const { version, processing } = stream
  const earlier = version === 1 ? [] : await versions.newest()
  const definitions = [stream, ...earlier.map(({ definition }) => definition)]
  if (!hasWindows(processing) && earlier.length === 0) return undefined
  const wanted = { streamId: stream.id, timestampUs }
  return await windowAt((query) => store.windows(query), wanted, definitions)
}

/** The version that its entry names; else the newest one when it came in. */
async function versionOf(
  versions: StreamVersions,
  { version, receivedAtUs }: FoundReading,
): Promise<TracedReading['version']> {
  const isExact = version !== undefined
  const facts = isExact
    ? await versions.numbered(version)
    : await versions.newestAt(receivedAtUs ?? 0)
  const protocol = facts?.definition.source['protocol']
  return {
    number: version ?? facts?.version,
    createdAtUs: facts?.createdAtUs,
    protocol: typeof protocol === 'string' ? protocol : undefined,
    isExact,
  }
}

interface Sent {
  readonly events: readonly SentEvent[]
  readonly isCut: boolean
}

function missingOf({ missing, refusal, kind }: FoundReading, { events, isCut }: Sent): Missing[] {
  const all: Missing[] = [...missing]
  if (refusal === undefined) all.push(sourceNotKept)
  if (kind === undefined) all.push(kindNotKept)
  if (events.some(({ type }) => type === null)) all.push(eventsExpired)
  const hasGone = events.some(({ deliveries }) =>
    deliveries.some(({ attemptsMade, attempts }) => attempts.length < attemptsMade),
  )
  if (hasGone && !isCut) all.push(attemptsExpired)
  if (isCut) all.push(tooManyNotices)
  return all
}

const sourceNotKept: Missing = {
  what: 'source',
  reason: 'not_kept',
  message: 'The address of the sender is only kept of refused readings.',
}

const kindNotKept: Missing = {
  what: 'kind',
  reason: 'trimmed',
  message: 'Only the entry in the journal says whether it was received, imported or redriven.',
}

const eventsExpired: Missing = {
  what: 'events',
  reason: 'expired',
  message: 'Events are kept for 30 days, and so are their deliveries.',
}

const attemptsExpired: Missing = {
  what: 'attempts',
  reason: 'expired',
  message: 'Attempts are kept for 30 days.',
}

const tooManyNotices: Missing = {
  what: 'events',
  reason: 'too_many',
  message: 'There are more alerts, deliveries or attempts than a receipt names.',
}

function noReading(streamId: string, timestampUs: number): DomainError {
  const at = formatUs(timestampUs)
  return new DomainError('not_found', `nothing is known of a reading of ${streamId} at ${at}`, {
    remedy:
      'Send a timestamp as GET /streams/{streamId}/data shows it, with all six decimals: it has to be exactly that of the reading.',
  })
}
