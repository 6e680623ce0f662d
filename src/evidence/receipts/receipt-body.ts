import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import { readingText } from '../../ledgers/seals/reading-text.ts'
import { digestText } from '../../streams/data-streams/readings-text.ts'
import { sealBody } from '../seals/seal-api.ts'
import type { FoundPoint, FoundReading, Missing } from './found-reading.ts'
import type { HoldingWindow } from './holding-window.ts'
import type { AlertStep } from './moved-alerts.ts'
import type { receiptSchema } from './receipt-api.ts'
import type { ReadingSeal } from './seal-of-reading.ts'
import type { SentEvent } from './sent-notices.ts'

type ReceiptBody = Static<typeof receiptSchema>
type ReadingBody = ReceiptBody['readings'][number]

/** A reading with all that was looked up for it. */
export interface TracedReading {
  readonly found: FoundReading
  readonly stream: { readonly id: string; readonly type: string }
  readonly version: {
    readonly number: number | undefined
    readonly createdAtUs: number | undefined
    readonly protocol: string | undefined
    readonly isExact: boolean
  }
  readonly window: HoldingWindow | undefined
  readonly steps: readonly AlertStep[]
  readonly events: readonly SentEvent[]
  readonly seal: ReadingSeal | undefined
  readonly missing: readonly Missing[]
}

export function readingBody(traced: TracedReading): ReadingBody {
  const { found, stream, version, window, steps, events, seal, missing } = traced
  const { outcome, point, isComplete, digest, offset, journalProblem } = found
  return {
    outcome,
    reading: point === undefined ? null : fieldsOf(point),
    text: point !== undefined && isComplete ? readingText(stream.id, point) : null,
    digest: digest === undefined ? null : digestText(digest),
    arrival: arrivalOf(traced),
    journal: {
      offset: offset ?? null,
      problem: journalProblem
        ? { error: journalProblem.reason, message: journalProblem.message }
        : null,
    },
    definition: {
      version: version.number ?? null,
      createdAt: shown(version.createdAtUs),
      isExact: version.isExact,
    },
    verdict: verdictOf(found),
    windows: window === undefined ? [] : [windowBody(window)],
    alerts: steps.map(stepBody),
    events: events.map(eventBody),
    seal: seal === undefined ? null : sealOfBody(seal),
    missing: journalProblem ? [journalProblem, ...missing] : [...missing],
  }
}

/** From entries, because a field may be `__proto__`; nothing takes the place of the time. */
function fieldsOf({ timestampUs, values, extra = {} }: FoundPoint) {
  const timestamp = formatUs(timestampUs)
  const fields = [...Object.entries(extra), ...Object.entries(values)]
  return { ...(Object.fromEntries(fields) as object), timestamp }
}

function arrivalOf({ found, stream, version }: TracedReading): ReadingBody['arrival'] {
  const { receivedAtUs, kind, sender, refusal } = found
  return {
    receivedAt: shown(receivedAtUs),
    how: {
      type: stream.type,
      protocol: version.protocol ?? null,
      source: refusal?.source ?? null,
      sender: sender ?? null,
    },
    kind: kind ?? null,
  }
}

function verdictOf({ refusal, flagged }: FoundReading): ReadingBody['verdict'] {
  if (refusal) {
    const { reason, message, details } = refusal
    return { accepted: false, reason, message, details }
  }
  const details = flagged.map((path) => ({ path, message: 'is out of its range' }))
  return { accepted: true, reason: null, message: null, details }
}

function windowBody({ timestampUs, endUs, revision, count, computedAtUs }: HoldingWindow) {
  const span = { start: formatUs(timestampUs), end: formatUs(endUs) }
  return { ...span, revision, count, computedAt: shown(computedAtUs) }
}

function stepBody(one: AlertStep): ReadingBody['alerts'][number] {
  const { alertId, ruleId, step, cause, from, to, atUs, journalOffset, eventId } = one
  return { alertId, ruleId, step, cause, from, to, at: formatUs(atUs), journalOffset, eventId }
}

function eventBody({ eventId, type, atUs, deliveries, inbox }: SentEvent) {
  return {
    eventId,
    type,
    at: shown(atUs),
    deliveries: deliveries.map(({ deliveryId, channel, receiverId, state, attempts }) => ({
      deliveryId,
      channel,
      receiverId,
      state,
      attempts: attempts.map((one) => ({
        attempt: one.attempt,
        attemptedAt: formatUs(one.attemptedAtUs),
        statusCode: one.statusCode,
        durationMs: one.durationUs / 1_000,
        delivered: one.delivered,
        message: one.message,
      })),
    })),
    inbox: inbox.map(({ entryId, createdAtUs, title }) => ({
      entryId,
      createdAt: formatUs(createdAtUs),
      title,
    })),
  }
}

function sealOfBody({ seal, progress, path, problem }: ReadingSeal) {
  return { ...sealBody(seal, progress), path: path ?? null, problem: problem ?? null }
}

function shown(us: number | undefined | null): string | null {
  return us === undefined || us === null ? null : formatUs(us)
}
