import type { Page } from 'playwright-core'
import type { Figure } from '../report.ts'
import { withConsole } from './bench-browser.ts'
import { type KeptMemory, MeasuredPage } from './measured-page.ts'

const changes = 50

/** Changes before anything is compared: by then all pages are loaded, and compiled as they stay. */
const changesBefore = 100

/**
 * What may differ from one look to the next without anything being left behind: compiled code of scripts, and what
 * the browser notes of requests for whoever measures it.
 */
const bytesMax = 1_000_000
const nodesMax = 100
const listenersMax = 10

/** Pages are gone to and left again: what stays of them in memory? */
export async function pageChanges(): Promise<Figure> {
  return await withConsole(2, async ({ http, streamIds: [one, other], api }, pages) => {
    const now = Date.now()
    const readings = Array.from({ length: 500 }, (_, at) => ({
      timestamp: new Date(now - at * 1000).toISOString(),
      temperature: at % 40,
      humidity: at % 7,
    }))
    for (const id of [one, other]) await api.withToken('POST', `/streams/${id}/data`, readings)
    const tabs = ['', '/history', '/status', '/definition', '/quarantine', '/access']
    const places = [
      ...tabs.map((tab) => `/console/streams/${one}${tab}`),
      '/console/streams',
      `/console/streams/${other}`,
      '/console/quarantine',
      '/console/alerts',
      '/console/sources',
      '/console/inbox',
      '/console/webhooks',
    ]
    const measured = await MeasuredPage.open(pages, http)
    const { page } = measured
    await page.goto('/console/')
    await goAround(page, places, changesBefore)
    const before = await measured.keptMemory()
    await goAround(page, places, changes)
    return leftBehind(before, await measured.keptMemory())
  })
}

function leftBehind(before: KeptMemory, after: KeptMemory): Figure {
  const bytes = after.bytes - before.bytes
  const nodes = after.nodes - before.nodes
  const listeners = after.listeners - before.listeners
  return {
    name: `${changes} page changes: what they leave behind`,
    measured: `${(bytes / 1000).toFixed(0)} KB, ${nodes} nodes, ${listeners} listeners (before: ${(before.bytes / 1e6).toFixed(1)} MB, ${before.nodes}, ${before.listeners})`,
    target: `nothing (${bytesMax / 1000} KB, ${nodesMax}, ${listenersMax} at most)`,
    isMet: bytes <= bytesMax && nodes <= nodesMax && listeners <= listenersMax,
  }
}

/** Goes from page to page, and ends at the overview. */
async function goAround(page: Page, places: readonly string[], times: number): Promise<void> {
  for (let change = 1; change < times; change++) {
    await go(page, places[change % places.length] ?? '')
  }
  await go(page, '/console/')
}

/** Takes a link, as somebody does, and waits until its page has all it asks for. */
async function go(page: Page, place: string): Promise<void> {
  await page.evaluate((href) => {
    const link = document.createElement('a')
    link.href = href
    document.body.append(link)
    link.click()
    link.remove()
  }, place)
  await page.waitForFunction(
    (path) =>
      location.pathname === path &&
      document.querySelector('main h1') !== null &&
      document.querySelector('[aria-busy=true]') === null,
    place,
  )
}
