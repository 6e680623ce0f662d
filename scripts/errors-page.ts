import type { ErrorEntry } from '../src/core/error-catalogue.ts'

/** The page of all error codes, as Markdown. */
export function errorsPage(catalogue: Readonly<Record<string, ErrorEntry>>): string {
  const rows = Object.entries(catalogue).map(
    ([code, { status, meaning, remedy, retryable }]) =>
      `| \`${code}\` | ${status} | ${meaning} | ${remedy} | ${retryable ? 'yes' : 'no'} |`,
  )
  return `${[...introduction, ...rows].join('\n')}\n`
}

const introduction = [
  '# Errors',
  '',
  'Made from `src/core/error-catalogue.ts` by `npm run docs`; do not edit.',
  '',
  'Every error answer of either interface is `{error, message, statusCode}`, with `retryAfter` (seconds,',
  'also in the `Retry-After` header) on 429 and 503, and `details: [{path, message}]` where single places',
  'of a request are wrong. `error` is one of these codes; which of them an operation can answer is in',
  '`/openapi.json`. The last column says whether the very same request may succeed later.',
  '',
  '| code | status | meaning | what to do | again? |',
  '| --- | --- | --- | --- | --- |',
]
