import type { IncomingHttpHeaders } from 'node:http'
import type { DialedTls } from '../../src/contracts/fetch-connector.ts'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { Credentials } from './credentials.ts'
import type { ApiAnswer, Exchanges } from './exchange.ts'
import { failureOf } from './failures.ts'
import type { HiddenValues } from './hidden-values.ts'
import type { HttpOptions } from './http-options.ts'
import { shownAddress } from './shown-text.ts'

/** Redirects that one request follows. */
const redirectsMax = 5

const redirectStatuses = [301, 302, 303, 307, 308]

type Headers = Readonly<Record<string, string>>

interface SourceCall {
  readonly url: URL
  readonly method: string
  /** Headers that those of the source replace. */
  readonly usual: Headers
  /** Headers that replace those of the source. */
  readonly fixed: Headers
}

/** One request, with all that it needs. */
interface DressedCall {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
}

interface Answer {
  readonly url: URL
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

interface SourceRequestsNeeds {
  readonly options: HttpOptions
  readonly credentials: Credentials
  /** Exchanges that tokens are asked for by. */
  readonly exchanges: Exchanges
  readonly nowUs: () => number
}

/** Requests to the endpoint of one source. Whatever is secret goes to its own origin alone. */
export class SourceRequests {
  readonly #needs: SourceRequestsNeeds

  constructor(needs: SourceRequestsNeeds) {
    this.#needs = needs
  }

  /** The answer behind all redirects, whatever its status. */
  async send<Given extends Answer>(
    call: SourceCall,
    exchange: (dressed: DressedCall) => Promise<Given>,
  ): Promise<Given> {
    const answer = await this.#follow(call, exchange)
    if (answer.status !== 401 || !this.#needs.credentials.renew()) return answer
    return await this.#follow(call, exchange)
  }

  /** A request with the headers of the source, and what shows who is asking, where it may have them. */
  async dressed({ url: asked, method, usual, fixed }: SourceCall): Promise<DressedCall> {
    const { options, credentials, exchanges, nowUs } = this.#needs
    const url = new URL(asked)
    const headers: Record<string, string> = { 'user-agent': 'streamvault', ...usual }
    if (url.origin === options.endpoint.origin) {
      Object.assign(headers, options.headers)
      await credentials.dress({ url, headers }, { exchanges, nowMs: nowUs() / 1_000 })
    }
    return { url, method, headers: { ...headers, ...fixed } }
  }

  /** What an answer means that is not what was asked for. */
  failureOf(answer: Pick<ApiAnswer, 'status' | 'headers' | 'body'>): Error {
    return failureOf(answer, { nowMs: this.#needs.nowUs() / 1_000, secrets: this.secrets })
  }

  /** What no message may show. */
  get secrets(): readonly string[] {
    const { options, credentials } = this.#needs
    return [...credentials.secrets, ...Object.values(options.headers), ...options.hidden.secrets]
  }

  async #follow<Given extends Answer>(
    call: SourceCall,
    exchange: (dressed: DressedCall) => Promise<Given>,
  ): Promise<Given> {
    let { url } = call
    for (let redirects = 0; ; redirects++) {
      const answer = await exchange(await this.dressed({ ...call, url }))
      const { status, headers } = answer
      // The address that was really asked may have a secret in its query.
      if (!redirectStatuses.includes(status)) return { ...answer, url }
      if (call.method !== 'GET') {
        throw new SourceRefused(`the answer was ${status}: only a GET follows redirects`)
      }
      if (redirects === redirectsMax) {
        throw new SourceRefused(`there were more than ${redirectsMax} redirects`)
      }
      url = targetOf(headers.location, url, this.#needs.options.hidden)
    }
  }
}

/** Whom to trust and to expect: what the source says is about its own endpoint. */
export function tlsAt({ endpoint, tls }: HttpOptions): (origin: string) => DialedTls {
  return (origin) => (origin === endpoint.origin ? tls : {})
}

/**
 * Where a redirect or a link leads.
 *
 * @throws SourceRefused where nobody should follow: nowhere, out of HTTP, out of TLS, with credentials in it
 */
export function targetOf(location: string | undefined, from: URL, hidden: HiddenValues): URL {
  const target = location === undefined ? null : URL.parse(location, from.href)
  if (target === null) throw new SourceRefused(`${shownAddress(from, hidden)} leads to no address`)
  if (!['http:', 'https:'].includes(target.protocol)) {
    throw new SourceRefused(
      `${shownAddress(from, hidden)} leads to an address of ${target.protocol}`,
    )
  }
  if (from.protocol === 'https:' && target.protocol === 'http:') {
    throw new SourceRefused(`${shownAddress(from, hidden)} leads from https to http`)
  }
  if (target.username !== '' || target.password !== '') {
    throw new SourceRefused(
      `${shownAddress(from, hidden)} leads to an address with credentials in it`,
    )
  }
  target.hash = ''
  return target
}
