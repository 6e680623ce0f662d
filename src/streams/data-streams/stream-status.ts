import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import type { StoredCounts } from '../../storage/time-series/time-series-store.ts'
import type { streamStatus } from './data-stream-api.ts'
import type { DataStream, DecidedCounts } from './data-stream-store.ts'
import type { FiringAlerts } from './firing-alerts.ts'
import type { KeptTimes } from './retention.ts'
import type { HookStatus, SourceStatus } from './stream-sources.ts'
import { stateOf } from './stream-state.ts'

const usPerDay = 86_400_000_000

type StatusBody = Static<typeof streamStatus>
type SourceBody = NonNullable<StatusBody['source']>

export interface StatusFacts {
  readonly stream: DataStream
  /** Counted by the decider, up to its position. */
  readonly decided: DecidedCounts
  /** Counted by the store, up to the shipper's position. */
  readonly counts: StoredCounts
  readonly storedPerSecond: number
  readonly problem: string | undefined
  /** How the source is doing, where readings are fetched. */
  readonly source: SourceStatus | undefined
  /** What has come to the webhook, where others send to the stream. */
  readonly webhook: HookStatus | undefined
  /** How long its data is kept; null is for ever. */
  readonly retention: KeptTimes
  readonly firing: FiringAlerts
  readonly nowUs: number
}

/**
 * What became of what was received, which is all the others together
 * (decisions.md#counters-of-a-stream).
 */
export interface ConservationCounters {
  readonly received: number
  readonly stored: number
  readonly duplicates: number
  readonly unchanged: number
  readonly filtered: number
  readonly quarantined: number
  readonly discarded: number
  readonly pending: number
}

/**
 * The ledger of a stream. Decider and shipper stand at different places of the journal; what the
 * one that is ahead has received, and the other not yet dealt with, is pending. What came out of
 * the quarantine may be stored before the decider hears of it: then it is quarantined no more.
 */
export function countersOf(decided: DecidedCounts, stored: StoredCounts): ConservationCounters {
  const received = Math.max(decided.received, stored.received)
  const { filtered, quarantined } = decided
  const { unchanged, refused = 0 } = stored
  const discarded = decided.discarded + refused
  const accounted =
    stored.stored + stored.duplicates + unchanged + filtered + quarantined + discarded
  return {
    received,
    stored: stored.stored,
    duplicates: stored.duplicates,
    unchanged,
    filtered,
    quarantined: quarantined + Math.min(0, received - accounted),
    discarded,
    pending: Math.max(0, received - accounted),
  }
}

/** The answer of the status operation: every figure is measured. */
export function statusBody(facts: StatusFacts): StatusBody {
  const { stream, decided, counts, problem, source, nowUs } = facts
  const counters = countersOf(decided, counts)
  const { lastReceivedAtUs } = decided
  return {
    streamId: stream.id,
    status: stateOf({
      ...stream,
      hasReceived: counters.received > 0,
      isFailing: source?.isLasting === true,
    }),
    lastDataReceived: timeOrNull(lastReceivedAtUs),
    dataPointsToday: decided.day === Math.floor(nowUs / usPerDay) ? decided.receivedOnDay : 0,
    errorCount: counters.quarantined + counters.discarded,
    firing: facts.firing,
    health: {
      status: problem === undefined ? 'healthy' : 'degraded',
      ...(problem !== undefined && { problem }),
      /** Seconds since the stream was created. */
      uptime: Math.max(0, Math.floor((nowUs - stream.createdAtUs) / 1_000_000)),
      /** Milliseconds from receipt to the store, averaged over all stored readings. */
      avgLatency: counts.stored === 0 ? 0 : round(counts.latencyUs / counts.stored / 1000),
    },
    processing: {
      queueLength: counters.pending,
      /** Readings stored per second, averaged over about a minute. */
      processingRate: round(facts.storedPerSecond),
      lastProcessed: timeOrNull(counts.lastStoredAtUs),
    },
    /** How many of the stored ones were removed again: no term of the counters. */
    deleted: counts.deleted,
    /** How many of the stored ones were not kept any longer: no term of the counters either. */
    expired: counts.expired,
    retention: retentionBody(facts),
    counters,
    ...(source && { source: sourceBody(stream, source) }),
    ...(facts.webhook && { webhook: webhookBody(facts.webhook) }),
  }
}

function retentionBody({
  retention: { raw, aggregated },
  counts,
}: StatusFacts): StatusBody['retention'] {
  return { raw, aggregated, keptFrom: timeOrNull(counts.keptFromUs) }
}

function sourceBody({ isPaused }: DataStream, source: SourceStatus): SourceBody {
  const { lastError, remedy, lastMessageAtUs } = source
  return {
    // A pause is answered before the source has ended.
    state: isPaused ? 'paused' : source.state,
    since: formatUs(source.sinceUs),
    ...(lastError !== undefined && { lastError }),
    ...(remedy !== undefined && { remedy }),
    retries: source.retries,
    messages: source.messages,
    ...(source.skipped > 0 && { skipped: source.skipped }),
    lastMessage: timeOrNull(lastMessageAtUs ?? 0),
    unacknowledged: source.unacknowledged,
    ...roundsBody(source),
  }
}

function webhookBody(webhook: HookStatus): NonNullable<StatusBody['webhook']> {
  const { messages, repeated, refused, lastRefusal } = webhook
  return {
    messages,
    lastMessage: timeOrNull(webhook.lastMessageAtUs ?? 0),
    repeated,
    refused,
    lastRefused: timeOrNull(webhook.lastRefusedAtUs ?? 0),
    ...(lastRefusal !== undefined && { lastRefusal }),
  }
}

function roundsBody({
  rounds,
  lastRound,
  nextRoundAtUs,
  lagUs,
}: SourceStatus): Partial<SourceBody> {
  if (!rounds) return {}
  return {
    rounds: rounds.count,
    overlapped: rounds.overlapped,
    missed: rounds.missed,
    lastRound: lastRound
      ? { started: formatUs(lastRound.startedAtUs), ended: formatUs(lastRound.endedAtUs) }
      : null,
    nextRound: nextRoundAtUs === undefined ? null : formatUs(nextRoundAtUs),
    /** Seconds for which a round has been due that is not done. */
    lag: Math.floor((lagUs ?? 0) / 1_000_000),
  }
}

function timeOrNull(timestampUs: number): string | null {
  return timestampUs === 0 ? null : formatUs(timestampUs)
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
