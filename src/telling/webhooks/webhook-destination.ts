import { isIP } from 'node:net'
import { DomainError, invalidParameter, messageOf } from '../../core/errors.ts'
import { type EgressGuard, withRemedy } from '../../egress/egress-guard.ts'

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** What of a URL decides where it leads to. */
interface WebhookDestination {
  /** Host without brackets. */
  readonly host: string
  readonly port: number
}

/** What is to be said of a destination (decisions.md#destinations-of-webhooks). */
export interface DestinationVerdict {
  readonly allowed: boolean
  readonly reason: string | null
  readonly addresses: readonly string[]
}

/** @throws DomainError `invalid_request` for what is no URL */
export function parseWebhookUrl(text: string): URL {
  // The parser drops these silently, so the text would not be what is asked for.
  const hasBlanks = /[\s\p{Cc}]/u.test(text)
  if (!hasBlanks && URL.canParse(text)) return new URL(text)
  throw invalidParameter('url', 'must be an absolute URL without white space')
}

/**
 * Where a webhook leads to, by what its URL alone says
 * (decisions.md#destinations-that-are-allowed): http or https, nobody's name and password, port 80
 * or 443 unless the operator has named the destination.
 *
 * @throws DomainError `destination_not_allowed`
 */
export function destinationOf(
  { protocol, username, password, hostname, port: text }: URL,
  guard: EgressGuard,
): WebhookDestination {
  const standard = defaultPorts[protocol]
  if (standard === undefined) throw refusal('the scheme has to be http or https')
  if (username !== '' || password !== '') throw refusal('it may have no user name and password')
  const port = text === '' ? standard : Number(text)
  const destination = { host: hostname.replace(/^\[|\]$/g, ''), port }
  if (port === 80 || port === 443 || guard.isNamed(destination)) return destination
  throw refusal(withRemedy('the port has to be 80 or 443', destination))
}

/**
 * For a URL that is to be registered. A name that does not resolve is taken, and fails at the attempt; one that
 * nobody could ever find in public DNS is not.
 *
 * @throws DomainError `destination_not_allowed`, `invalid_request`
 */
export async function assertAllowed(text: string, guard: EgressGuard): Promise<void> {
  const { allowed, reason } = await examineUrl(text, guard)
  if (!allowed && reason !== unresolved) throw refusal(reason ?? '')
}

/** Why nothing that is sent to a registered URL could arrive, as far as it is known without asking anybody. */
export function knownProblemOf(text: string, guard: EgressGuard): string | undefined {
  try {
    return guard.problemOf(destinationOf(parseWebhookUrl(text), guard))
  } catch (error) {
    return messageOf(error)
  }
}

const unresolved = 'the name does not resolve'

/** @throws DomainError `invalid_request` for what is no URL */
export async function examineUrl(text: string, guard: EgressGuard): Promise<DestinationVerdict> {
  const url = parseWebhookUrl(text)
  try {
    const destination = destinationOf(url, guard)
    const { addresses, refused, problem } = await guard.examine(destination)
    if (problem !== undefined) {
      // Private addresses of names are the operator's: only one that was given is told back.
      const given = isIP(destination.host) === 0 ? [] : refused
      return { allowed: false, reason: problem, addresses: [...addresses, ...given] }
    }
    if (addresses.length === 0) return { allowed: false, reason: unresolved, addresses }
    return { allowed: true, reason: null, addresses }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { allowed: false, reason: error.message, addresses: [] }
  }
}

function refusal(reason: string): DomainError {
  return new DomainError('destination_not_allowed', reason, {
    details: [{ path: 'url', message: reason }],
  })
}
