import type { Page } from 'playwright-core'
import type { BrowserPages } from '../../test/support/console/browser-pages.ts'
import { firstPageBytes } from '../../test/support/console/first-page.ts'
import { medianOf } from '../fleet.ts'
import type { Figure } from '../report.ts'
import { withConsole } from './bench-browser.ts'
import { MeasuredPage } from './measured-page.ts'

const bytesMax = 80_000
const paintMsMax = 1_000
const rounds = 7

/** A phone on the road: 1.6 Mbit/s, and a processor of a quarter of this one's speed. */
const road = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
}
const slowdown = 4

const visits = [
  { who: 'signed out', isSignedIn: false, shown: 'h1:has-text("Sign in"), button' },
  { who: 'overview', isSignedIn: true, shown: '.overview-card, main h2' },
] as const

/** What comes before the first page is seen, and how long that takes far away. */
export async function firstPage(): Promise<readonly Figure[]> {
  return await withConsole(1, async ({ http }, pages) => {
    const figures: Figure[] = []
    for (const visit of visits) {
      const bytes = await bytesOf(pages, http, visit)
      figures.push({
        name: `first page, ${visit.who}: document, scripts, styles (gzip)`,
        measured: `${(bytes / 1000).toFixed(1)} KB`,
        target: 'at most 80 KB',
        isMet: bytes <= bytesMax,
      })
      const took: Shown[] = []
      for (let round = 0; round < rounds; round++) took.push(await paintOf(pages, http, visit))
      const [paintMs, shownMs] = [
        medianOf(took.map((one) => one.paintMs)),
        medianOf(took.map((one) => one.shownMs)),
      ]
      figures.push({
        name: `first paint, ${visit.who}: 1.6 Mbit/s, 150 ms, processor / 4`,
        measured: `${paintMs.toFixed(0)} ms (all of it ${shownMs.toFixed(0)} ms)`,
        target: 'under 1 s',
        isMet: paintMs < paintMsMax,
      })
    }
    return figures
  })
}

type Visit = (typeof visits)[number]

async function bytesOf(pages: BrowserPages, http: string, visit: Visit): Promise<number> {
  const { page } = await MeasuredPage.open(pages, http, visit.isSignedIn)
  const bytes = await firstPageBytes(page, () => show(page, visit))
  await pages.closePages()
  return bytes
}

interface Shown {
  readonly paintMs: number
  readonly shownMs: number
}

async function paintOf(pages: BrowserPages, http: string, visit: Visit): Promise<Shown> {
  const { page, browser } = await MeasuredPage.open(pages, http, visit.isSignedIn)
  await browser.send('Network.enable')
  await browser.send('Network.emulateNetworkConditions', road)
  await browser.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  await show(page, visit)
  const shown = await page.evaluate(() => ({
    paintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
    shownMs: performance.now(),
  }))
  await pages.closePages()
  return shown
}

async function show(page: Page, { shown }: Visit): Promise<void> {
  await page.goto('/console/', { waitUntil: 'commit' })
  await page.locator(shown).first().waitFor()
}
