import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { monotonicMs } from '../../src/core/clock.ts'
import type { HttpAuthentication } from '../fields/http-requests.ts'
import type { Exchanges } from './exchange.ts'
import { failureOf } from './failures.ts'
import { PageRoom } from './page-room.ts'

/** A token is not used any more so long before its end: a request takes time. */
const marginMs = 30_000

/** Lifetime of a token whose answer does not say one. */
const standardLifeMs = 300_000

/** Tokens that live longer are asked for again all the same. */
const lifeMsMax = 24 * 3_600_000

interface Dressed {
  readonly url: URL
  readonly headers: Record<string, string>
}

interface Token {
  readonly value: string
  readonly untilMs: number
}

type OAuth = Extract<HttpAuthentication, { type: 'oauth2' }>

/** Shows an API who is asking. What it gives for that is kept in memory, for as long as it is good. */
export class Credentials {
  readonly #given: HttpAuthentication
  #token: Token | undefined

  constructor(given: HttpAuthentication) {
    this.#given = given
  }

  /** What no message may show. */
  get secrets(): readonly string[] {
    const given = this.#given
    switch (given.type) {
      case 'none':
        return []
      case 'basic':
        return [`${given.username}:${given.password}`, given.password]
      case 'bearer':
        return [given.token]
      case 'apiKey':
        return [given.value]
      case 'oauth2': {
        const { clientId, clientSecret } = given
        const sent = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`
        const own = [sent, `${clientId}:${clientSecret}`, clientSecret]
        return this.#token === undefined ? own : [...own, this.#token.value]
      }
      default:
        return given satisfies never
    }
  }

  /** The parameter of a query that is a secret. */
  get secretParameter(): string | undefined {
    const given = this.#given
    return given.type === 'apiKey' && given.in === 'query' ? given.name : undefined
  }

  /** Adds to a request what it needs. @throws SourceRefused when a token is refused */
  async dress(
    { url, headers }: Dressed,
    needs: { readonly exchanges: Exchanges; readonly nowMs: number },
  ): Promise<void> {
    const given = this.#given
    if (given.type === 'basic') {
      headers['authorization'] = basic(given.username, given.password)
    } else if (given.type === 'bearer') {
      headers['authorization'] = `Bearer ${given.token}`
    } else if (given.type === 'apiKey') {
      if (given.in === 'query') url.searchParams.set(given.name, given.value)
      else headers[given.name.toLowerCase()] = given.value
    } else if (given.type === 'oauth2') {
      headers['authorization'] = `Bearer ${await this.#tokenOf(given, needs)}`
    }
  }

  /** Forgets a token that was not taken; whether another one can be had. */
  renew(): boolean {
    const had = this.#token !== undefined
    this.#token = undefined
    return had
  }

  async #tokenOf(
    given: OAuth,
    needs: { readonly exchanges: Exchanges; readonly nowMs: number },
  ): Promise<string> {
    if (this.#token === undefined || this.#token.untilMs <= monotonicMs()) {
      this.#token = undefined
      this.#token = await this.#fetchToken(given, needs)
    }
    return this.#token.value
  }

  /** The grant of client credentials (RFC 6749, section 4.4). */
  async #fetchToken(
    given: OAuth,
    { exchanges, nowMs }: { readonly exchanges: Exchanges; readonly nowMs: number },
  ): Promise<Token> {
    const { tokenUrl, clientId, clientSecret, scope, secretIn = 'header' } = given
    const form = new URLSearchParams({ grant_type: 'client_credentials' })
    if (scope !== undefined) form.set('scope', scope)
    const headers: Record<string, string> = {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
    }
    if (secretIn === 'header') {
      headers['authorization'] = basic(formEncoded(clientId), formEncoded(clientSecret))
    } else {
      form.set('client_id', clientId)
      form.set('client_secret', clientSecret)
    }
    using room = new PageRoom()
    const url = new URL(tokenUrl)
    const answer = await exchanges.send({
      url,
      method: 'POST',
      headers,
      body: form.toString(),
      room,
    })
    if (answer.status === 200) return tokenOf(answer.body)
    const failure = failureOf(answer, { nowMs, secrets: this.secrets })
    const isMoved = answer.status >= 300 && answer.status < 400
    if (!isMoved) {
      failure.message = `no token: ${failure.message}`
      throw failure
    }
    throw new SourceRefused(`no token: ${failure.message}, and redirects of it are not followed`)
  }
}

/** Reads the answer of RFC 6749, section 5.1: it says how long the token lives from now on. @throws Error that shows nothing of it */
function tokenOf(body: Buffer): Token {
  let answer: Readonly<Record<string, unknown>>
  try {
    answer = Object(JSON.parse(body.toString())) as typeof answer
  } catch {
    throw new Error('no token: the answer is not JSON')
  }
  const { access_token: value, token_type: type = 'bearer', expires_in: expiresIn } = answer
  // RFC 6750, section 2.1.
  const isToken = typeof value === 'string' && /^[\w\-.~+/]+=*$/.test(value)
  if (!isToken || String(type).toLowerCase() !== 'bearer') {
    throw new Error('no token: the answer has no bearer token')
  }
  const seconds = Number(expiresIn)
  const lifeMs = seconds > 0 ? Math.min(lifeMsMax, seconds * 1_000) : standardLifeMs
  return { value, untilMs: monotonicMs() + lifeMs - Math.min(marginMs, lifeMs / 2) }
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** Identifiers and secrets are form-encoded before they get into the header (RFC 6749, section 2.3.1). */
function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}
