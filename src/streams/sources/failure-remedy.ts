import { SourceRefused } from '../../contracts/fetch-connector.ts'
import { DomainError } from '../../core/errors.ts'

/** Codes of Node for another side that cannot be reached. */
const unreachable = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

/** What to do about another side that says nothing. */
export const unreachableRemedy =
  'Check the host and port of source.endpoint, that the other side runs, and that a firewall lets this service connect to it.'

const refusedRemedy =
  'Correct what the message names, on the other side or in source with PUT /streams/{streamId}; docs/connectors.md names the page of each protocol.'

const generalRemedy =
  'Compare source with the page of its protocol, which docs/connectors.md names; POST /sources/check tries a changed source.'

/** Errors that one error may stand for, one in the other. */
const causesMax = 5

/** What to do about the failure of a source, as a sentence. */
export function failureRemedy(error: unknown): string {
  if (error instanceof DomainError) return error.remedy
  if (error instanceof SourceRefused) return refusedRemedy
  let cause: unknown = error
  for (let depth = 0; depth < causesMax && cause instanceof Error; depth++) {
    if ('code' in cause && unreachable.has(String(cause.code))) return unreachableRemedy
    cause = cause.cause
  }
  return generalRemedy
}
