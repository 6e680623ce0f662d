import type { CDPSession, Page } from 'playwright-core'
import type { BrowserPages } from '../../test/support/console/browser-pages.ts'
import { signIn } from '../../test/support/console/signing-in.ts'

/** What a page keeps in memory, after what nobody needs was collected. */
export interface KeptMemory {
  /** Objects of scripts, of the document, and buffers. */
  readonly bytes: number
  /** Nodes of the document and those that something still holds. */
  readonly nodes: number
  readonly listeners: number
}

interface HeapUsage {
  readonly usedSize: number
  readonly embedderHeapUsedSize?: number
  readonly backingStorageSize?: number
}

/** What one round of collecting frees can free more in the next. */
const collections = 3

/** A page of the console, and what its browser tells of it. */
export class MeasuredPage {
  readonly page: Page
  readonly browser: CDPSession

  private constructor(page: Page, browser: CDPSession) {
    this.page = page
    this.browser = browser
  }

  /** An empty page; with a session where the visitor has signed in. */
  static async open(pages: BrowserPages, origin: string, isSignedIn = true): Promise<MeasuredPage> {
    const page = await pages.newPage(origin, { viewport: { width: 1440, height: 900 } })
    if (isSignedIn) await signIn(page, origin)
    const browser = await page.context().newCDPSession(page)
    // Time that the thread has had a processor, not what it has waited for one: others use the machine, too.
    await browser.send('Performance.enable', { timeDomain: 'threadTicks' })
    return new MeasuredPage(page, browser)
  }

  async keptMemory(): Promise<KeptMemory> {
    for (let time = 0; time < collections; time++) {
      await this.browser.send('HeapProfiler.collectGarbage')
    }
    const heap: HeapUsage = await this.browser.send('Runtime.getHeapUsage')
    const figures = await this.#figures()
    return {
      bytes: heap.usedSize + (heap.embedderHeapUsedSize ?? 0) + (heap.backingStorageSize ?? 0),
      nodes: figures.get('Nodes') ?? 0,
      listeners: figures.get('JSEventListeners') ?? 0,
    }
  }

  /** Seconds that the main thread has worked since the page was opened. */
  async workedSeconds(): Promise<number> {
    return (await this.#figures()).get('TaskDuration') ?? 0
  }

  async #figures(): Promise<ReadonlyMap<string, number>> {
    const { metrics } = await this.browser.send('Performance.getMetrics')
    return new Map(metrics.map(({ name, value }) => [name, value]))
  }
}
