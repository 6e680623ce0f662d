import { DomainError, type ErrorDetail } from '../../core/errors.ts'

export type CustomHeaders = Readonly<Record<string, string>>

export const customHeadersMax = { count: 20, nameLength: 100, valueLength: 2_048 } as const

/**
 * What frames the request or belongs to one connection (decisions.md#signatures-and-headers): it is
 * ours to say.
 */
const ours: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
])

/** A token of HTTP (RFC 9110, section 5.6.2). */
const namePattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** A value of printable ASCII, with blanks inside of it only: no two readers differ about it. */
const valuePattern = /^(?:[!-~](?:[ \t!-~]*[!-~])?)?$/

/** @throws DomainError `invalid_request` that names each header that cannot be sent */
export function assertSendable(headers: CustomHeaders, path: string): void {
  const seen = new Set<string>()
  const details: ErrorDetail[] = []
  for (const [name, value] of Object.entries(headers)) {
    const problem = problemOf(name, value, seen)
    if (problem !== undefined) details.push({ path: `${path}.${name}`, message: problem })
    seen.add(name.toLowerCase())
  }
  if (details.length === 0) return
  throw new DomainError('invalid_request', 'headers that cannot be sent', { details })
}

function problemOf(name: string, value: string, seen: ReadonlySet<string>): string | undefined {
  const folded = name.toLowerCase()
  if (!namePattern.test(name)) return 'is not a name of a header'
  if (name.length > customHeadersMax.nameLength) {
    return `has a name of more than ${customHeadersMax.nameLength} characters`
  }
  if (ours.has(folded)) return 'is set by the service'
  if (seen.has(folded)) return 'comes twice'
  if (!valuePattern.test(value)) return 'must have a value of printable ASCII, without line breaks'
  return undefined
}
