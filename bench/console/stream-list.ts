import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { ApiClient } from '../../test/support/api-client.ts'
import type { BrowserPages } from '../../test/support/console/browser-pages.ts'
import {
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../../test/support/service-process.ts'
import { medianOf } from '../fleet.ts'
import type { Figure } from '../report.ts'
import { fillStreams, timeBoth } from '../stream-list-speed.ts'
import { withBrowser } from './bench-browser.ts'
import { MeasuredPage } from './measured-page.ts'

const streams = 10_000
const rounds = 9

const rowsMsMax = 500
const searchMsMax = 300
const elementsMax = 8_000
const healthFactorMax = 2
const overviewMsMax = 50

/** A fleet of 10,000 streams: what its owner waits for. */
export async function streamList(): Promise<readonly Figure[]> {
  const service = await startFleet()
  try {
    return [
      ...(await withBrowser((pages) => pagesOf(pages, service.http))),
      ...(await answersOf(new ApiClient(service.http))),
    ]
  } finally {
    await service.end('SIGTERM')
    rmSync(service.dataDir, { recursive: true })
  }
}

async function startFleet(): Promise<ServiceProcess> {
  const dataDir = newDataDir()
  const first = await startServiceProcess(dataDir)
  const userId = await new ApiClient(first.http).userId()
  const vaultId = await new ApiClient(first.http).createVault()
  await first.end('SIGTERM')
  fillStreams(join(dataDir, 'state.db'), { userId, vaultId, streams })
  return await startServiceProcess(dataDir, { STREAMVAULT_CHECK_ANSWERS: 'off' })
}

async function pagesOf(pages: BrowserPages, http: string): Promise<readonly Figure[]> {
  const { page } = await MeasuredPage.open(pages, http)
  await page.addInitScript(noteFirstRows)
  const took = { loaded: [] as number[], gone: [] as number[], filtered: [] as number[] }
  const found: number[] = []
  let elements = 0
  for (let round = 0; round < rounds; round++) {
    await page.goto('/console/streams')
    took.loaded.push(await firstRowsMs(page))
    await page.goto('/console/')
    await page.locator('main h2').first().waitFor()
    took.gone.push(await goneToListMs(page))
    elements = await page.evaluate(() => document.querySelectorAll('*').length)
    took.filtered.push(await filteredMs(page, String(9_000 + round * 11)))
    found.push(await foundMs(page, String(8_000 + round * 11)))
  }
  return [
    below('first rows, the page loaded', medianOf(took.loaded), rowsMsMax),
    below('first rows, gone to from the overview', medianOf(took.gone), rowsMsMax),
    below('the list filtered, from the last key', medianOf(took.filtered), searchMsMax),
    below('the search of everything, from the last key', medianOf(found), searchMsMax),
    {
      name: `${fleet}: elements of the page`,
      measured: elements.toLocaleString('en'),
      target: 'under 8,000',
      isMet: elements < elementsMax,
    },
  ]
}

async function answersOf(api: ApiClient): Promise<readonly Figure[]> {
  const [plain, healthy] = await timeBoth(api)
  const factor = healthy / plain
  const took: number[] = []
  for (let round = 0; round < rounds * 3; round++) {
    const beganMs = performance.now()
    const { status } = await api.withToken('GET', '/overview')
    if (status !== 200) throw new Error(`/overview answered ${status}`)
    took.push(performance.now() - beganMs)
  }
  return [
    {
      name: `${fleet}: include=health against the plain list`,
      measured: `${factor.toFixed(2)} times ${plain.toFixed(1)} ms`,
      target: 'at most twice',
      isMet: factor <= healthFactorMax,
    },
    below('GET /overview', medianOf(took), overviewMsMax),
  ]
}

const fleet = `${streams.toLocaleString('en')} streams`

function below(what: string, ms: number, most: number): Figure {
  return {
    name: `${fleet}: ${what}`,
    measured: `${ms.toFixed(0)} ms`,
    target: `under ${most} ms`,
    isMet: ms < most,
  }
}

/** Runs in each page before its own scripts: notes when rows have been painted for the first time. */
function noteFirstRows(): void {
  const watch = new MutationObserver(() => {
    if (document.querySelector('tr[data-row]') === null) return
    watch.disconnect()
    requestAnimationFrame(() => setTimeout(() => performance.mark('first rows')))
  })
  watch.observe(document, { childList: true, subtree: true })
}

async function firstRowsMs(page: Page): Promise<number> {
  const seen = await page.waitForFunction(
    () => performance.getEntriesByName('first rows')[0]?.startTime,
  )
  return (await seen.jsonValue()) ?? Number.NaN
}

async function goneToListMs(page: Page): Promise<number> {
  const beganMs = await page.evaluate(() => {
    const now = performance.now()
    document.querySelector<HTMLElement>('nav a[href="/console/streams"]')?.click()
    return now
  })
  return (await firstRowsMs(page)) - beganMs
}

/** From the last key to rows that all have the text in their names. */
async function filteredMs(page: Page, text: string): Promise<number> {
  return await typedUntil(page, {
    box: 'input[type=search]',
    rows: 'tr[data-row] .name-link',
    text,
  })
}

/** Where everything is searched for. */
const everything = 'input[role=combobox]'

async function foundMs(page: Page, text: string): Promise<number> {
  await page.keyboard.press('Control+k')
  await page.locator(everything).waitFor()
  const rows = '[role=group][aria-label="Streams"] [role=option]'
  const tookMs = await typedUntil(page, { box: everything, rows, text })
  await page.keyboard.press('Escape')
  await page.locator(everything).waitFor({ state: 'detached' })
  return tookMs
}

interface Typed {
  readonly box: string
  readonly rows: string
  readonly text: string
}

async function typedUntil(page: Page, typed: Typed): Promise<number> {
  return await page.evaluate(async ({ box, rows, text }) => {
    const { promise, resolve } = Promise.withResolvers<number>()
    const input = document.querySelector<HTMLInputElement>(box)
    if (input === null) throw new Error(`there is no ${box}`)
    const watch = new MutationObserver(() => {
      const found = [...document.querySelectorAll(rows)]
      if (found.length === 0 || !found.every((row) => row.textContent.includes(text))) return
      watch.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - beganMs)))
    })
    watch.observe(document, { childList: true, subtree: true, characterData: true })
    const beganMs = performance.now()
    input.value = text
    input.dispatchEvent(new Event('input', { bubbles: true }))
    return await promise
  }, typed)
}
