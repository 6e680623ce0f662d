import type { BrowserContext, ConsoleMessage, Page } from 'playwright-core'

/** A call that fails is no fault of the page; the browser writes it down all the same. */
const failedCall = /^Failed to load resource: /

/** What the page did that it must never do, whatever a test is about. */
export class PageWatch {
  /** Faults, in words, as they came. */
  readonly faults: string[] = []
  readonly #origins: readonly string[]

  private constructor(origins: readonly string[]) {
    this.#origins = origins
  }

  /** Begins to watch all pages of a context, which may talk to these origins only. */
  static async begin(context: BrowserContext, origins: readonly string[]): Promise<PageWatch> {
    const watch = new PageWatch(origins)
    context.on('console', (message) => watch.#heard(message))
    context.on('weberror', (error) => watch.faults.push(`uncaught: ${error.error().stack ?? ''}`))
    context.on('request', (request) => watch.#asked(request.url()))
    await context.exposeBinding(told, (_, violation: string) => {
      watch.faults.push(`policy violated: ${violation}`)
    })
    await context.addInitScript(tellViolations, told)
    return watch
  }

  /** Looks for what a page has kept in the browser: nothing may be there. */
  async lookForKept(page: Page): Promise<void> {
    if (!this.#origins.includes(new URL(page.url()).origin)) return
    const kept = await page.evaluate(async () => [
      ...Object.keys(localStorage),
      ...Object.keys(sessionStorage),
      ...(await indexedDB.databases()).map(({ name }) => name),
      // A cookie that scripts can read.
      ...document.cookie.split('; ').filter((cookie) => cookie !== ''),
    ])
    if (kept.length > 0) this.faults.push(`kept in the browser: ${kept.join(', ')}`)
  }

  #heard(message: ConsoleMessage): void {
    if (message.type() !== 'error' || failedCall.test(message.text())) return
    this.faults.push(`error in the console: ${message.text()}`)
  }

  #asked(url: string): void {
    const { origin, protocol } = new URL(url)
    if (this.#origins.includes(origin) || protocol === 'data:' || protocol === 'blob:') return
    this.faults.push(`asked elsewhere: ${url}`)
  }
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
