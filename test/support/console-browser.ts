import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { type Answer, ApiClient } from './api-client.ts'

/** Who signs in. */
interface Credentials {
  readonly apiKey: string
  readonly apiSecret: string
}

export interface CurrentSession {
  readonly id: string
  readonly user: { readonly id: string; readonly username: string }
  readonly apiKeyId: string
  readonly scopes: readonly string[]
  readonly expiresAt: string
  readonly idleExpiresAt: string
  readonly service: Readonly<Record<string, unknown>>
}

type Headers = Readonly<Record<string, string>>

/** What the page of the console sends, as a browser does: its cookie, its interface and its origin. */
export class ConsoleBrowser {
  readonly #api: ApiClient
  readonly base: string
  /** `name=value`, as it was set; empty before. */
  cookie = ''

  constructor(base: string) {
    this.base = base
    this.#api = new ApiClient(base)
  }

  /** Headers of a page of the service. */
  get page(): Headers {
    return { cookie: this.cookie, origin: this.base, 'x-streamvault-interface': 'bearer' }
  }

  async signIn(
    { apiKey, apiSecret }: Credentials,
    headers: Headers = {},
  ): Promise<Answer<CurrentSession & ErrorBody>> {
    const answer = await this.#api.request<CurrentSession & ErrorBody>('POST', '/console/session', {
      headers: { ...this.page, ...headers },
      body: { apiKey, apiSecret },
    })
    const [set] = answer.headers.getSetCookie()
    if (set !== undefined) this.cookie = set.split(';')[0] ?? ''
    return answer
  }

  /** Asks as the page does. */
  ask<Body = ErrorBody>(
    method: string,
    path: string,
    body?: unknown,
    headers: Headers = {},
  ): Promise<Answer<Body>> {
    return this.send(method, path, { ...this.page, ...headers }, body)
  }

  /** Asks with these headers and no others. */
  send<Body = ErrorBody>(
    method: string,
    path: string,
    headers: Headers,
    body?: unknown,
  ): Promise<Answer<Body>> {
    return this.#api.request<Body>(method, path, { headers, body })
  }
}

/** A browser that is signed in. */
export async function signedIn(base: string, key: Credentials): Promise<ConsoleBrowser> {
  const browser = new ConsoleBrowser(base)
  const answer = await browser.signIn(key)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return browser
}
