import type { DialedTls } from '../../src/contracts/fetch-connector.ts'
import type { HttpAuthentication } from '../fields/http-requests.ts'
import { HiddenValues } from './hidden-values.ts'

/** Whom to ask, and as who. */
export interface HttpOptions {
  readonly endpoint: URL
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Whom to trust and to expect at the endpoint. */
  readonly tls: DialedTls
  readonly authentication: HttpAuthentication
  /** Secrets that stand in the endpoint, the headers or the body. */
  readonly hidden: HiddenValues
}

/** The keys of a source that say it. */
export interface HttpKeys {
  readonly endpoint: string
  readonly headers?: Readonly<Record<string, string>>
  readonly tls?: { readonly ca?: string; readonly servername?: string }
  readonly authentication?: HttpAuthentication
  readonly secrets?: Readonly<Record<string, string>>
}

export function httpOptions(keys: HttpKeys): HttpOptions {
  const headers = Object.entries(keys.headers ?? {})
  return {
    endpoint: withoutFragment(keys.endpoint),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    tls: keys.tls ?? {},
    authentication: keys.authentication ?? { type: 'none' },
    hidden: new HiddenValues(keys.secrets),
  }
}

function withoutFragment(address: string): URL {
  const url = new URL(address)
  url.hash = ''
  return url
}

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Milliseconds of a duration such as `30s`. @throws Error when it is none */
export function durationMs(text: string): number {
  const [, count, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? []
  const ms = Number(count) * (unitMs[unit ?? ''] ?? Number.NaN)
  if (!(ms > 0)) throw new Error(`${text} is not a duration`)
  return ms
}

/** Where a URL leads. */
export function destinationOf(url: URL): { readonly host: string; readonly port: number } {
  const standard = ['https:', 'wss:'].includes(url.protocol) ? 443 : 80
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { host, port: url.port === '' ? standard : Number(url.port) }
}

/** Where tokens come from, when a source has them given by somebody else (RFC 6749, section 4.4). */
export function tokenDestinationsOf({
  authentication,
}: Readonly<Record<string, unknown>>): readonly ReturnType<typeof destinationOf>[] {
  const { tokenUrl } = (authentication ?? {}) as { readonly tokenUrl?: unknown }
  return typeof tokenUrl === 'string' ? [destinationOf(new URL(tokenUrl))] : []
}
