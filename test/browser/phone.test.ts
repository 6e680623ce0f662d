import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { hindrancesOn } from '../support/console/accessible.ts'
import { arriveAt, arrived } from '../support/console/arrival.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { type FilledConsole, fillConsole } from '../support/console/filled-console.ts'

const at = consoleTests()
// As wide as 1,280 pixels are at 400 %.
const width = 320
let filled: FilledConsole

beforeAll(async () => {
  filled = await fillConsole(at.service)
})

async function onPhone(path: string): Promise<Page> {
  const phone = { viewport: { width, height: 740 }, isMobile: true, hasTouch: true }
  const page = await at.signedIn(path, { key: filled.key, ...phone })
  await arrived(page)
  return page
}

/** What makes a page wider than the phone: nothing, or the innermost elements that stick out of it. */
async function tooWideOn(page: Page): Promise<readonly string[]> {
  return await page.evaluate((limit) => {
    const roots = [document.documentElement, document.body]
    const widest = Math.max(innerWidth, ...roots.map((root) => root.scrollWidth))
    if (widest <= limit) return []
    const sticking = [...document.querySelectorAll('#app *:not(:has(*))')].filter(
      (element) => element.getBoundingClientRect().right > limit,
    )
    return [
      `${widest} px`,
      ...sticking.slice(0, 5).map((element) => element.outerHTML.slice(0, 150)),
    ]
  }, width)
}

/** Cells of tables that do not say which column they are of, though the heads of columns are not seen. */
async function namelessCellsOn(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() =>
    [...document.querySelectorAll('table.cards > tbody > tr > td')]
      .filter(
        (cell) =>
          cell.checkVisibility() &&
          !cell.matches('.title, [colspan]') &&
          cell.querySelector('input[type="checkbox"]') === null &&
          ['none', 'normal', '""'].includes(getComputedStyle(cell, '::before').content),
      )
      .map((cell) => cell.outerHTML.slice(0, 150)),
  )
}

describe('on a phone', () => {
  test('no page scrolls sideways, and cells of tables say what they are', async () => {
    const page = await onPhone('/console/')
    const found: Record<string, readonly string[]> = {}
    for (const { name, path } of filled.pages) {
      await arriveAt(page, path)
      const faults = [...(await tooWideOn(page)), ...(await namelessCellsOn(page))]
      if (faults.length > 0) found[name] = faults
    }

    expect(found).toEqual({})
  })

  test('tables are cards, one under the other', async () => {
    const page = await onPhone('/console/streams')
    const row = page.locator('table.cards tr[data-row]').first()
    const places = await row
      .locator('td')
      .evaluateAll((all) =>
        all.filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect().y),
      )

    expect(places.length).toBeGreaterThan(2)
    expect(new Set(places).size).toBe(places.length)
  })

  test('the navigation at the bottom leads everywhere', async () => {
    const page = await onPhone('/console/alerts')
    const aside = page.locator('.shell-nav a')
    const hrefs = await aside.evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''))
    const bottom = page.locator('.bottom-nav')
    expect(await aside.first().isVisible()).toBe(false)

    for (const href of hrefs) {
      const link = bottom.locator(`a[href="${href}"]`)
      if (!(await link.isVisible())) await page.getByRole('button', { name: 'More' }).tap()
      await link.tap()
      await expect.poll(() => new URL(page.url()).pathname).toBe(href)
      await page.locator(`.bottom-nav a[href="${href}"][aria-current="page"]`).waitFor({
        state: 'attached',
      })
      await page.locator('#more-places').waitFor({ state: 'hidden' })
      await arrived(page)
    }
    expect(hrefs.length).toBeGreaterThan(6)
  })

  test('menus and dialogs fit', async () => {
    const page = await onPhone('/console/streams')

    for (const [opener, shown] of [
      ['[popovertarget="more-places"]', '#more-places'],
      ['[popovertarget="session-menu"]', '#session-menu'],
      ['.shell-search', 'dialog[open]'],
    ] as const) {
      await page.locator(opener).tap()
      const box = await page.locator(shown).boundingBox()
      expect(box?.x, shown).toBeGreaterThanOrEqual(0)
      expect((box?.x ?? 0) + (box?.width ?? width + 1), shown).toBeLessThanOrEqual(width)
      expect((box?.y ?? 0) + (box?.height ?? 1000), shown).toBeLessThanOrEqual(740)
      expect(await tooWideOn(page), shown).toEqual([])
      expect(await hindrancesOn(page), shown).toEqual([])
      await page.keyboard.press('Escape')
      await page.locator(shown).waitFor({ state: 'hidden' })
    }
  })
})
