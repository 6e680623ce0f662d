import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { arrived } from '../support/console/arrival.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { type FilledConsole, fillConsole } from '../support/console/filled-console.ts'

const at = consoleTests()
let filled: FilledConsole

beforeAll(async () => {
  filled = await fillConsole(at.service)
})

/** All that a page shows of clocks: what moves by itself is left out. */
async function clocksOn(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() => {
    const main = document.querySelector<HTMLElement>('#main')
    const inputs = main?.querySelectorAll<HTMLInputElement>('input[type^="datetime"]') ?? []
    const titles = [...(main?.querySelectorAll('time') ?? [])].map(({ title }) => title)
    const texts = [...titles, main?.innerText ?? '']
    const shown = texts.flatMap(
      (text) => text.match(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d(\.\d+)?)?/g) ?? [],
    )
    return [...[...inputs].map(({ value }) => value), ...shown]
  })
}

/** What a clock of UTC shows in Kathmandu at the same time. */
function inKathmandu(clock: string): string {
  const minute = clock.slice(0, 16)
  const shifted = new Date(Date.parse(`${minute.replace(' ', 'T')}Z`) + (5 * 60 + 45) * 60_000)
  const there = shifted.toISOString().slice(0, 16)
  return (clock.includes('T') ? there : there.replace('T', ' ')) + clock.slice(16)
}

/** What the charts look like. */
async function chartsOn(page: Page): Promise<readonly string[]> {
  return await page
    .locator('.chart canvas')
    .evaluateAll((all: HTMLCanvasElement[]) => all.map((canvas) => canvas.toDataURL()))
}

async function chooseZone(page: Page, zone: string): Promise<void> {
  await page.locator('[popovertarget="session-menu"]').click()
  await page.getByLabel('Time zone').fill(zone)
  const kept = page.waitForResponse(
    (answer) => answer.url().endsWith('/console/settings') && answer.request().method() === 'PUT',
  )
  await page.keyboard.press('Tab')
  await kept
  await page.keyboard.press('Escape')
}

test.each([
  ['History', (id: string) => `/console/streams/${id}/history?${lastHour()}`],
  ['Live', (id: string) => `/console/streams/${id}`],
  ['Status', (id: string) => `/console/streams/${id}/status`],
  ['Versions', (id: string) => `/console/streams/${id}/definition?view=versions`],
  ['alerts', () => '/console/alerts'],
  ['the inbox', () => '/console/inbox'],
  ['the quarantine', () => '/console/quarantine'],
  ['streams', () => '/console/streams'],
] as const)('another time zone is that of %s at once, all of it', async (name, pathOf) => {
  const page = await at.signedIn(pathOf(filled.streamId), { key: filled.key, timezoneId: 'UTC' })
  await arrived(page)
  await chooseZone(page, 'UTC')
  await expect.poll(() => clocksOn(page)).not.toEqual([])
  const before = await clocksOn(page)
  const areDrawn = name === 'History'
  if (areDrawn) await expect.poll(async () => (await chartsOn(page)).length).toBeGreaterThan(0)
  const charts = await chartsOn(page)

  await chooseZone(page, 'Asia/Kathmandu')
  await page.getByText('UTC+5:45').first().waitFor()
  const changed = await clocksOn(page)
  if (areDrawn) await expect.poll(() => chartsOn(page)).not.toEqual(charts)
  await page.reload()
  await arrived(page)

  await expect.poll(() => clocksOn(page)).toEqual(changed)
  expect(changed).toEqual(before.map(inKathmandu))
})

/** The last hour as a range that stays where it is. */
function lastHour(): string {
  const endMs = Date.now()
  const start = new Date(endMs - 3_600_000).toISOString()
  return String(new URLSearchParams({ start, end: new Date(endMs).toISOString() }))
}
