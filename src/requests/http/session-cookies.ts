import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Interface, PresentedSession } from '../../access/auth/authenticate.ts'
import { DomainError, invalidParameter } from '../../core/errors.ts'
import * as s from './schema.ts'
import { isUpgrade } from './upgrades.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whether a GET of it may come with the cookie of the console alone, as a browser sends it that saves a file:
     * its answer is one, and is shown by no browser.
     */
    readonly takesCookieAlone?: boolean
    /** Whether it is about the session of the console that it comes with, and so takes no other credentials. */
    readonly needsSession?: boolean
  }
}

/**
 * How a page says which interface it speaks. A page elsewhere cannot send it: the browser would ask us before
 * whether it may, and is told that it may not (`cors.ts`).
 */
const interfaceHeader = 'x-streamvault-interface'

const interfaces: readonly Interface[] = ['bearer', 'header-key']

export const interfaceHeaders = {
  type: 'object',
  required: [interfaceHeader],
  properties: {
    [interfaceHeader]: s.choice(interfaces, {
      description: 'Which interface the page speaks. No page elsewhere can send it.',
      examples: ['bearer'],
    }),
  },
} as const

/** Credentials that go before a cookie. */
const otherCredentials = ['authorization', 'x-api-key', 'x-api-secret'] as const

export interface SessionCookiesNeeds {
  /** Distinguishes services on one host: browsers send cookies of all ports to each of them. */
  readonly name: string
  /** Base of the addresses that we hand out. */
  readonly publicUrl: string
}

/**
 * Cookies that say which session of the console a browser has, and when they are believed
 * (decisions.md#sessions-of-the-console).
 */
export class SessionCookies {
  readonly #needs: SessionCookiesNeeds

  constructor(needs: SessionCookiesNeeds) {
    this.#needs = needs
  }

  /**
   * The session that the cookie of a request names, where it counts. A WebSocket never has one: browsers open them
   * for pages of others, too.
   *
   * @throws DomainError `invalid_request` for an interface that there is not; `origin_not_allowed`
   */
  presentedIn(request: FastifyRequest): PresentedSession | undefined {
    const { headers, method, routeOptions } = request
    if (headers.cookie === undefined || isUpgrade(request)) return undefined
    if (otherCredentials.some((name) => headers[name] !== undefined)) return undefined
    const secret = this.secretIn(request)
    if (secret === undefined) return undefined
    if (headers[interfaceHeader] === undefined) {
      const { takesCookieAlone, interface: only = 'bearer' } = routeOptions.config
      if (takesCookieAlone !== true || !isOfOurPage(request)) return undefined
      return { secret, interface: only, isAlone: true }
    }
    const spoken = interfaceIn(request)
    if (method !== 'GET' && method !== 'HEAD') this.assertOwnOrigin(request)
    return { secret, interface: spoken, isAlone: false }
  }

  /** What the cookie says, whether that counts or not. One that comes twice says nothing: another one has put it there. */
  secretIn(request: FastifyRequest): string | undefined {
    const name = this.#nameFor(request)
    const values = (request.headers.cookie ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${name}=`))
      .map((pair) => pair.slice(name.length + 1))
    return values.length === 1 ? values[0] || undefined : undefined
  }

  /**
   * A browser tells where the page comes from that asks for a change. SameSite does not: a page at another port of
   * this host is of the same site.
   *
   * @throws DomainError `origin_not_allowed`
   */
  assertOwnOrigin(request: FastifyRequest): void {
    const { origin } = request.headers
    const own = [`${request.protocol}://${request.host}`, this.#needs.publicUrl]
    if (origin !== undefined && own.some((url) => originOf(url) === origin)) return
    const message =
      'only a page of this service uses a session: its Origin is neither the Host nor STREAMVAULT_PUBLIC_URL'
    throw new DomainError('origin_not_allowed', message)
  }

  /** Gives a browser its cookie, for so many seconds. */
  set(reply: FastifyReply, secret: string, lifetimeS: number): void {
    const isSecure = reply.request.protocol === 'https'
    const parts = [
      `${this.#nameFor(reply.request)}=${secret}`,
      `Max-Age=${lifetimeS}`,
      'Path=/',
      'HttpOnly',
      'SameSite=Strict',
      ...(isSecure ? ['Secure'] : []),
    ]
    void reply.header('set-cookie', parts.join('; '))
  }

  clear(reply: FastifyReply): void {
    this.set(reply, '', 0)
  }

  /** Over TLS a name that nobody can put there without it, nor for all hosts of a domain (RFC 6265bis, section 4.1.3.2). */
  #nameFor({ protocol }: FastifyRequest): string {
    const { name } = this.#needs
    return protocol === 'https' ? `__Host-${name}` : name
  }
}

/** @throws DomainError `invalid_request`, naming what there is */
export function interfaceIn({ headers }: FastifyRequest): Interface {
  const found = interfaces.find((one) => one === headers[interfaceHeader])
  if (found) return found
  throw invalidParameter(interfaceHeader, `must be ${interfaces.join(' or ')}`)
}

/** Whether a browser that says where a request comes from says that it is from us, or from a person. */
function isOfOurPage({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  return site === undefined || site === 'same-origin' || site === 'none'
}

/** Without the port where it is the one that everybody expects, as browsers write it. */
function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined
}
