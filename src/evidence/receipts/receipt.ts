import type { Static } from 'typebox'
import { DomainError } from '../../core/errors.ts'
import { formatUs } from '../../core/time.ts'
import { streamKeyOf } from '../../ingest/pipeline/entry.ts'
import { receiptFormat } from '../../ledgers/seals/receipt-format.ts'
import type { EntriesAt, EntriesAtRequest } from '../../reading/live/entries-at.ts'
import type { ReadingsAt, ReadingsAtQuery } from '../../storage/time-series/readings-query.ts'
import type {
  RefusedReadingsPage,
  RefusedReadingsQuery,
} from '../../storage/time-series/refused-readings.ts'
import type { StoredCounts } from '../../storage/time-series/time-series-store.ts'
import { isDeduplicated } from '../../streams/data-streams/deduplication.ts'
import { findReadings } from './find-readings.ts'
import { decidedUntil, refusalsAt } from './held-refusals.ts'
import { matchAlerts } from './match-alerts.ts'
import { stepsAt } from './moved-alerts.ts'
import type { receiptSchema } from './receipt-api.ts'
import { readingBody } from './receipt-body.ts'
import { StreamVersions } from './stream-versions.ts'
import { type AskedTime, type TraceNeeds, tracedReadings } from './traced-readings.ts'

/** Readings of one time that a receipt is about. */
const readingsMax = 100

/** Bytes of their values, about. */
const bytesMax = 4 * 1024 * 1024

export interface ReceiptNeeds extends TraceNeeds {
  readonly store: TraceNeeds['store'] & {
    readingsAt(query: ReadingsAtQuery): Promise<ReadingsAt>
  }
  readonly entriesAt: (request: EntriesAtRequest) => Promise<EntriesAt>
  readonly countsOf: (streamId: string) => Promise<StoredCounts>
  readonly refused: (query: RefusedReadingsQuery) => Promise<RefusedReadingsPage>
  readonly nowUs: () => number
}

/**
 * What happened to each reading of one time: all that is still known of it.
 *
 * @throws DomainError `not_found` where nothing is known of any
 */
export async function receiptOf(
  needs: ReceiptNeeds,
  asked: AskedTime,
): Promise<Static<typeof receiptSchema>> {
  const { stream, timestampUs } = asked
  const versions = new StreamVersions(needs.state, stream.id)
  const { found, hasMore, cut } = await readingsOf(needs, asked, versions)
  if (found.length === 0) throw noReading(stream.id, timestampUs)
  const traced = await tracedReadings(needs, asked, { found, versions, cut })
  return {
    format: receiptFormat,
    streamId: stream.id,
    timestamp: formatUs(timestampUs),
    answeredAt: formatUs(needs.nowUs()),
    readings: traced.map(readingBody),
    hasMore,
  }
}

/** The store is asked first: an entry that comes behind its position is pending, and not unknown. */
async function readingsOf(
  needs: ReceiptNeeds,
  { stream: { id: streamId }, timestampUs }: AskedTime,
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

function noReading(streamId: string, timestampUs: number): DomainError {
  const at = formatUs(timestampUs)
  return new DomainError('not_found', `nothing is known of a reading of ${streamId} at ${at}`, {
    remedy:
      'Send a timestamp as GET /streams/{streamId}/data shows it, with all six decimals: it has to be exactly that of the reading.',
  })
}
