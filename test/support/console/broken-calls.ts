import type { Page, Request, Route } from 'playwright-core'

/** What can become of a call: an answer with this status, no answer, or one that does not come yet. */
export const faults = [401, 403, 404, 429, 500, 503, 'cut off', 'slow'] as const
export type Fault = (typeof faults)[number]

/** What the service answers then. */
export const codes: Readonly<Record<Extract<Fault, number>, string>> = {
  401: 'session_expired',
  403: 'insufficient_permissions',
  404: 'not_found',
  429: 'rate_limited',
  500: 'internal_error',
  503: 'store_unavailable',
}

/** What a page is to show instead of what it has asked for. */
export const brokenMessage = 'this call was broken by a test'

/** Calls of what is around each page, and not of the page. */
const shellPaths = /^\/console\/(?:session|settings)$|^\/notifications\/in-app\/(?:stream|unread)/

/** Calls that fail until they are healed. */
export class BrokenCalls implements AsyncDisposable {
  /** How often each was made: `GET /streams`. */
  readonly made = new Map<string, number>()
  readonly #page: Page
  readonly #fault: Fault
  readonly #healed = Promise.withResolvers<void>()
  #isHealed = false

  private constructor(page: Page, fault: Fault) {
    this.#page = page
    this.#fault = fault
  }

  /** Breaks the calls of a page, or one of them alone: `GET /streams`. */
  static async begin(page: Page, fault: Fault, only?: string): Promise<BrokenCalls> {
    const broken = new BrokenCalls(page, fault)
    await page.route(
      () => true,
      async (route, request) => {
        const name = callOf(request)
        const isMeant = only === undefined ? isOfPage(request) : name === only
        await (isMeant && name !== undefined ? broken.#answer(route, name) : route.fallback())
      },
    )
    return broken
  }

  /** From now on the service answers, also what has waited. */
  async heal(): Promise<void> {
    this.#isHealed = true
    this.#healed.resolve()
    await this.#page.unrouteAll({ behavior: 'ignoreErrors' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.heal()
  }

  async #answer(route: Route, name: string): Promise<void> {
    this.made.set(name, (this.made.get(name) ?? 0) + 1)
    if (this.#fault === 'cut off') return await route.abort('connectionrefused')
    if (this.#fault === 'slow') {
      await this.#healed.promise
      return await route.fallback()
    }
    if (this.#isHealed) return await route.fallback()
    const status = this.#fault
    const isLimited = status === 429 || status === 503
    return await route.fulfill({
      status,
      headers: isLimited ? { 'retry-after': '1' } : {},
      json: {
        error: codes[status],
        message: brokenMessage,
        statusCode: status,
        ...(isLimited && { retryAfter: 1 }),
      },
    })
  }
}

/** The calls that a page makes, each once, while something is done. */
export async function callsDuring(
  page: Page,
  deed: () => Promise<void>,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  const note = (request: Request) => {
    const name = callOf(request)
    if (name !== undefined && isOfPage(request)) names.add(name)
  }
  page.on('request', note)
  await deed()
  page.off('request', note)
  return names
}

/** `GET /streams`; undefined for what is no call. */
function callOf(request: Request): string | undefined {
  if (request.resourceType() !== 'fetch') return undefined
  return `${request.method()} ${new URL(request.url()).pathname}`
}

function isOfPage(request: Request): boolean {
  return !shellPaths.test(new URL(request.url()).pathname)
}
