import { RetryLater, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { ApiAnswer } from './exchange.ts'
import { shown } from './shown-text.ts'

/** Longest time that another side can have us wait. */
const retryAfterMsMax = 3_600_000

/** Statuses of 4xx that pass by themselves: a time-out, a conflict, too early, too many requests. */
const passing = [408, 409, 421, 425, 429]

/** What an answer that is no page means. */
export function failureOf(
  answer: Pick<ApiAnswer, 'status' | 'headers' | 'body'>,
  { nowMs, secrets }: { readonly nowMs: number; readonly secrets: readonly string[] },
): Error {
  const { status, headers, body } = answer
  const reason = shown(body.toString(), secrets)
  const message = `the answer was ${status}${reason === '' ? '' : `: ${reason}`}`
  if (status >= 400 && status < 500 && !passing.includes(status)) return new SourceRefused(message)
  if (status === 429 || status === 503) {
    const retryAfterMs = retryAfterOf(headers['retry-after'], nowMs)
    if (retryAfterMs !== undefined) return new RetryLater(message, retryAfterMs)
  }
  return new Error(message)
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function retryAfterOf(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\s*\d+\s*$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs
  return Number.isNaN(ms) ? undefined : Math.min(retryAfterMsMax, Math.max(0, Math.ceil(ms)))
}
