import { wallDate } from '../core/clock.ts'
import { durationUs } from '../core/duration.ts'
import { UsageError } from './command.ts'

/** Seconds of a duration such as `90s`, `30m`, `12h` or `90d`. */
function parseDuration(text: string): number | undefined {
  const us = durationUs(text)
  return us === undefined ? undefined : us / 1_000_000
}

/** Whole seconds, as the service takes overlaps. @throws UsageError */
export function overlapSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = text === '0' ? 0 : parseDuration(text)
  if (seconds === undefined)
    throw new UsageError(`--overlap must be such as 1h or 0, not '${text}'`)
  return seconds
}

/** An instant as it is, or a duration from now on as an instant in RFC 3339. */
export function expiryOf(text: string | undefined): string | undefined {
  const seconds = text === undefined ? undefined : parseDuration(text)
  if (seconds === undefined) return text
  const endMs = wallDate().getTime() + seconds * 1_000
  if (endMs > lastMs) throw new UsageError(`--expires ${text} is beyond the year 9999`)
  return new Date(endMs).toISOString()
}

/** The last instant that RFC 3339 can write. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59)
