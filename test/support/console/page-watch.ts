import type { BrowserContext, ConsoleMessage, Page } from 'playwright-core'

/** A call that fails is no fault of the page; the browser writes it down all the same. */
const failedCall = /^Failed to load resource: /

/** Where the pages of a context may be. */
export interface WatchedOrigins {
  /** They may ask these, and must do nothing wrong there. */
  readonly own: readonly string[]
  /** What somebody else has made may do what it wants. */
  readonly foreign: readonly string[]
}

/** What the page did that it must never do, whatever a test is about. */
export class PageWatch {
  /** Faults, in words, as they came. */
  readonly faults: string[] = []
  readonly #origins: WatchedOrigins

  private constructor(origins: WatchedOrigins) {
    this.#origins = origins
  }

  /** Begins to watch all pages of a context. */
  static async begin(context: BrowserContext, origins: WatchedOrigins): Promise<PageWatch> {
    const watch = new PageWatch(origins)
    context.on('page', (page) => watch.#watch(page))
    await context.exposeBinding(told, ({ page }, violation: string) => {
      watch.#note(page, `policy violated: ${violation}`)
    })
    await context.addInitScript(tellViolations, told)
    return watch
  }

  /** Looks for what a page has kept in the browser: nothing may be there. */
  async lookForKept(page: Page): Promise<void> {
    if (!this.#origins.own.includes(originOf(page))) return
    const kept = await page.evaluate(async () => [
      ...Object.keys(localStorage),
      ...Object.keys(sessionStorage),
      ...(await indexedDB.databases()).map(({ name }) => name),
      // A page that came over plain http from elsewhere has none of these two.
      ...(isSecureContext ? await caches.keys() : []),
      ...(isSecureContext ? await navigator.serviceWorker.getRegistrations() : []).map(
        ({ scope }) => scope,
      ),
      // A cookie that scripts can read.
      ...document.cookie.split('; ').filter((cookie) => cookie !== ''),
    ])
    if (kept.length > 0) this.faults.push(`kept in the browser: ${kept.join(', ')}`)
  }

  #watch(page: Page): void {
    page.on('console', (message) => this.#heard(page, message))
    page.on('pageerror', (error) => this.#note(page, `uncaught: ${error.stack ?? error.message}`))
    page.on('request', (request) => this.#asked(page, new URL(request.url())))
  }

  #heard(page: Page, message: ConsoleMessage): void {
    if (message.type() !== 'error' || failedCall.test(message.text())) return
    this.#note(page, `error in the console: ${message.text()}`)
  }

  #asked(page: Page, { origin, protocol, href }: URL): void {
    const { own, foreign } = this.#origins
    if (protocol === 'data:' || protocol === 'blob:') return
    if (![...own, ...foreign].includes(origin)) this.#note(page, `asked elsewhere: ${href}`)
  }

  #note(page: Page, fault: string): void {
    if (!this.#origins.foreign.includes(originOf(page))) this.faults.push(fault)
  }
}

function originOf(page: Page): string {
  return new URL(page.url()).origin
}

const told = 'tellViolation'

/** Runs in each page, before its own scripts. */
function tellViolations(name: string): void {
  const tell = (globalThis as unknown as Record<string, (violation: string) => void>)[name]
  document.addEventListener('securitypolicyviolation', (event) => {
    const { effectiveDirective, blockedURI, sourceFile, lineNumber, sample } = event
    tell?.(`${effectiveDirective} ${blockedURI} ${sourceFile}:${lineNumber} ${sample}`)
  })
}
