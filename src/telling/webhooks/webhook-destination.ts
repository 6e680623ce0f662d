import { isIP } from 'node:net'
import { DomainError, invalidParameter, messageOf } from '../../core/errors.ts'
import { destinationRemedy, type EgressGuard, withRemedy } from '../../egress/egress-guard.ts'

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
  /** What to do about the reason, as a sentence. */
  readonly remedy: string | null
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
  if (standard === undefined) throw refusal('the scheme has to be http or https', schemeRemedy)
  if (username !== '' || password !== '')
    throw refusal('it may have no user name and password', credentialsRemedy)
  const port = text === '' ? standard : Number(text)
  const destination = { host: hostname.replace(/^\[|\]$/g, ''), port }
  if (port === 80 || port === 443 || guard.isNamed(destination)) return destination
  const reason = withRemedy('the port has to be 80 or 443', destination)
  throw refusal(reason, destinationRemedy(destination))
}

/**
 * For a URL that is to be registered. A name that does not resolve is taken, and fails at the attempt; one that
 * nobody could ever find in public DNS is not.
 *
 * @throws DomainError `destination_not_allowed`, `invalid_request`
 */
export async function assertAllowed(text: string, guard: EgressGuard): Promise<void> {
  const url = parseWebhookUrl(text)
  const destination = destinationOf(url, guard)
  const { problem } = await guard.examine(destination)
  if (problem !== undefined) throw refusal(problem, destinationRemedy(destination))
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

const unresolvedRemedy =
  'Check the spelling of the host in url, and that public DNS has an address for it.'

/** @throws DomainError `invalid_request` for what is no URL */
export async function examineUrl(text: string, guard: EgressGuard): Promise<DestinationVerdict> {
  const url = parseWebhookUrl(text)
  try {
    const destination = destinationOf(url, guard)
    const { addresses, refused, problem } = await guard.examine(destination)
    if (problem !== undefined) {
      // Private addresses of names are the operator's: only one that was given is told back.
      const given = isIP(destination.host) === 0 ? [] : refused
      const remedy = destinationRemedy(destination) ?? null
      return { allowed: false, reason: problem, remedy, addresses: [...addresses, ...given] }
    }
    if (addresses.length === 0) {
      return { allowed: false, reason: unresolved, remedy: unresolvedRemedy, addresses }
    }
    return { allowed: true, reason: null, remedy: null, addresses }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const { message: reason, remedy } = error
    return { allowed: false, reason, remedy, addresses: [] }
  }
}

const schemeRemedy = 'Write a url that begins with https:// or http://.'

const credentialsRemedy =
  'Leave user name and password out of the url, and send them in headers, such as Authorization.'

function refusal(reason: string, remedy: string | undefined): DomainError {
  return new DomainError('destination_not_allowed', reason, {
    details: [{ path: 'url', message: reason }],
    remedy,
  })
}
