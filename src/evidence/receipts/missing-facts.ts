import type { FoundReading, Missing } from './found-reading.ts'
import type { SentEvent } from './sent-notices.ts'

interface Known {
  readonly events: readonly SentEvent[]
  /** Whether there are more alerts, deliveries or attempts. */
  readonly isCut: boolean
}

/** What is not known of a reading, or not shown. */
export function missingOf(
  { missing, refusal, kind }: FoundReading,
  { events, isCut }: Known,
): Missing[] {
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
