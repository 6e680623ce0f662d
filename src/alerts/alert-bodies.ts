import { formatUs } from '../core/time.ts'
import type { HistoryRow } from './alert.ts'

/** A step of the history as the API shows it. */
export function stepBody(row: HistoryRow) {
  return {
    step: row.step,
    cause: row.cause,
    from: row.from_state,
    to: row.to_state,
    at: formatUs(row.at),
    receivedAt: formatUs(row.received_at),
    offset: row.journal_offset,
    value: JSON.parse(row.value) as unknown,
    threshold: JSON.parse(row.threshold) as unknown,
    reading: row.reading === null ? null : (JSON.parse(row.reading) as object),
    userId: row.user_id,
    comment: row.comment,
    mutedUntil: row.muted_until === null ? null : formatUs(row.muted_until),
    eventId: row.event_id,
  }
}

/** A step of the history as a sentence. */
export function sentenceOf(row: HistoryRow): string {
  const { cause, from_state: from, to_state: to } = row
  const at = formatUs(row.at)
  if (from === to) return `${row.user_id} did this at ${at}: ${cause}.`
  const what = `${from} became ${to} at ${at}`
  switch (cause) {
    case 'reading':
      return `${what}: the reading of entry ${row.journal_offset} gave ${row.value} against ${row.threshold}.`
    case 'timer':
      return `${what}: the time that the rule gives had passed.`
    case 'definition':
      return `${what}: the rule was changed, or is no more.`
    default:
      return `${what}: ${row.user_id} did this: ${cause}.`
  }
}
