import type { ErrorEntry } from '../src/core/error-catalogue.ts'
import type { RefusalEntry } from '../src/core/refusal-catalogue.ts'

/** The page of all error codes and all reasons of the quarantine, as Markdown. */
export function errorsPage(
  catalogue: Readonly<Record<string, ErrorEntry>>,
  refusals: Readonly<Record<string, RefusalEntry>>,
): string {
  const rows = Object.entries(catalogue).map(
    ([code, { status, meaning, remedy, retryable }]) =>
      `| \`${code}\` | ${status} | ${meaning} | ${remedy} | ${retryable ? 'yes' : 'no'} |`,
  )
  const reasons = Object.entries(refusals).map(
    ([reason, { meaning, remedy }]) => `| \`${reason}\` | ${meaning} | ${remedy} |`,
  )
  return `${[...introduction, ...rows, ...ofReadings, ...reasons].join('\n')}\n`
}

const introduction = [
  '# Errors',
  '',
  'This page lists every code of an error, what it means, and what to do about it.',
  '',
  'Every error answer of both interfaces is `{error, message, statusCode, remedy}`, with `retryAfter` (seconds,',
  'also in the `Retry-After` header) on 429 and 503, and `details: [{path, message}]` when single places',
  'of a request are wrong. `error` is one of these codes; `/openapi.json` says which of them an operation can',
  'answer. `remedy` says what to do: the text below, or a more exact one when the service knows more, such as',
  'the missing entry of STREAMVAULT_EGRESS_ALLOW or the missing permission of the key.',
  'The last column says whether the same request may succeed later.',
  '',
  'The operations for clients of InfluxDB, Prometheus and OpenTelemetry answer in the form of their protocol. There the',
  'code is in the header `x-streamvault-error`, and the remedy is behind the message.',
  '',
  'Made from `src/core/error-catalogue.ts` and `src/core/refusal-catalogue.ts` by `npm run docs`; do not edit.',
  '',
  '| code | status | meaning | what to do | again? |',
  '| --- | --- | --- | --- | --- |',
]

const ofReadings = [
  '',
  '## Readings that are refused',
  '',
  'A refused reading goes into the quarantine of its stream, with one of these as its `reason`. The answer to its',
  'sender (`error` of each member of `rejected`, `reason` of a single reading), the entry in the quarantine and',
  'the event of a tail have the same `remedy`. `POST /streams/{streamId}/validate` says the same before you send,',
  'and keeps nothing.',
  '',
  '| reason | meaning | what to do |',
  '| --- | --- | --- |',
]
