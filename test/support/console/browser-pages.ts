import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { PageWatch } from './page-watch.ts'

/** A key that somebody signs in with. */
export interface SignInKey {
  readonly apiKey: string
  readonly apiSecret: string
}

/** Somebody who opens a page in an empty browser. */
export interface Stranger extends BrowserContextOptions {
  /** Origins of further services, whose pages are watched as well. */
  readonly others?: readonly string[]
  /** Origins of somebody else, whose pages may do what they want. */
  readonly foreign?: readonly string[]
}

/** Where Debian has it, and others. */
const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Screenshots of what has failed. */
const failuresFolder = 'test-failures'

/** For what hangs, and not for what is slow. */
const patienceMs = 60_000

interface OpenPages {
  readonly context: BrowserContext
  readonly watch: PageWatch
}

/** A browser, and what a test has opened in it: each has cookies of its own, as another person's would. */
export class BrowserPages {
  readonly #browser: Browser
  readonly #open: OpenPages[] = []

  private constructor(browser: Browser) {
    this.#browser = browser
  }

  static async launch(): Promise<BrowserPages> {
    const executablePath = process.env['CHROMIUM'] ?? programs.find((path) => existsSync(path))
    if (executablePath === undefined) throw new Error('no chromium: scripts/install-test-tools')
    // Its sandbox refuses root, and nobody else.
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    return new BrowserPages(await chromium.launch({ executablePath, args }))
  }

  /** An empty page of somebody who has never been here, for a service at an origin. */
  async newPage(origin: string, visitor: Stranger = {}): Promise<Page> {
    const { others = [], foreign = [], ...options } = visitor
    const context = await this.#browser.newContext({ baseURL: origin, ...options })
    context.setDefaultTimeout(patienceMs)
    this.#open.push({
      context,
      watch: await PageWatch.begin(context, { own: [origin, ...others], foreign }),
    })
    return await context.newPage()
  }

  /** Faults of all pages that are open, and of what they keep. */
  async faults(): Promise<readonly string[]> {
    for (const { context, watch } of this.#open) {
      for (const page of context.pages()) await watch.lookForKept(page)
    }
    return this.#open.flatMap(({ watch }) => watch.faults)
  }

  /** Keeps what the pages look like, under the name of the test that has failed. */
  async keepScreenshots(name: string): Promise<readonly string[]> {
    mkdirSync(failuresFolder, { recursive: true })
    const pages = this.#open.flatMap(({ context }) => context.pages())
    return await Promise.all(
      pages.map(async (page, index) => {
        const path = join(failuresFolder, `${name.replaceAll(/[^\w.-]+/g, '-')}-${index}.png`)
        // One that does not paint any more has no screenshot.
        return await page.screenshot({ path, fullPage: true, timeout: 10_000 }).then(
          () => `${path} (${page.url()})`,
          (error: unknown) => `no screenshot of ${page.url()}: ${String(error)}`,
        )
      }),
    )
  }

  /** Closes what the test has opened. */
  async closePages(): Promise<void> {
    for (const { context } of this.#open.splice(0)) await context.close()
  }

  async end(): Promise<void> {
    await this.#browser.close()
  }
}
