import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { arriveAt, arrived } from '../support/console/arrival.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { type FilledConsole, fillConsole } from '../support/console/filled-console.ts'

const at = consoleTests()
let filled: FilledConsole

beforeAll(async () => {
  filled = await fillConsole(at.service)
})

/** What is wider than the window, and what cuts its words off. */
async function tooLargeOn(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() => {
    const { scrollWidth } = document.documentElement
    const sticking = [...document.querySelectorAll('#app *:not(:has(*))')].filter(
      (element) => scrollWidth > innerWidth && element.getBoundingClientRect().right > innerWidth,
    )
    return sticking.slice(0, 5).map((element) => element.outerHTML.slice(0, 150))
  })
}

test('letters of twice the size make no page wider than the window', async () => {
  const page = await at.signedIn('/console/', { key: filled.key })
  const found: Record<string, readonly string[]> = {}
  for (const { name, path } of filled.pages) {
    await arriveAt(page, path)
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '30px'
    })
    const faults = await tooLargeOn(page)
    if (faults.length > 0) found[name] = faults
  }
  expect(found).toEqual({})
})

/** Colours of a page as they are seen. */
async function groundOf(page: Page, selector: string): Promise<string> {
  return await page
    .locator(selector)
    .first()
    .evaluate((element) => getComputedStyle(element).backgroundColor)
}

/** What the system has for these names now. */
async function systemColours(page: Page, names: readonly string[]): Promise<readonly string[]> {
  return await page.evaluate((all) => {
    const probe = document.createElement('span')
    probe.style.forcedColorAdjust = 'none'
    document.body.append(probe)
    const colours = all.map((name) => {
      probe.style.color = name
      return getComputedStyle(probe).color
    })
    probe.remove()
    return colours
  }, names)
}

/** Colours on the canvas of the first chart. */
async function paintedOn(page: Page): Promise<readonly string[]> {
  return await page
    .locator('.chart canvas')
    .first()
    .evaluate((canvas: HTMLCanvasElement) => {
      const { width, height } = canvas
      const data = canvas.getContext('2d')?.getImageData(0, 0, width, height).data ?? []
      const colours = new Set<string>()
      for (let red = 0; red < data.length; red += 4) {
        if (data[red + 3] === 255) colours.add(`rgb(${data.slice(red, red + 3).join(', ')})`)
      }
      return [...colours]
    })
}

describe('where the system forces its colours', () => {
  test.each([
    ['a tab', '.tabs > a', (id: string) => `/console/streams/${id}/history`],
    ['a place', '.shell-nav a', () => '/console/alerts'],
    [
      'a span of time',
      '.stream-presets > .button',
      (id: string) => `/console/streams/${id}/history`,
    ],
    ['a view', '.definition-views > *', (id: string) => `/console/streams/${id}/definition`],
  ] as const)('%s that is chosen is told from the others', async (_, selector, pathOf) => {
    const path = pathOf(filled.streamId)
    const page = await at.signedIn(path, { key: filled.key, forcedColors: 'active' })
    await arrived(page)
    const isChosen = ':is([aria-current], [aria-pressed="true"])'

    const chosen = await groundOf(page, `${selector}${isChosen}`)
    expect(chosen).not.toBe(await groundOf(page, `${selector}:not(${isChosen})`))
    expect([chosen]).toEqual(await systemColours(page, ['Highlight']))
  })

  test('lines of charts are told from their grids, also when it begins meanwhile', async () => {
    const page = await at.signedIn(`/console/streams/${filled.streamId}`, { key: filled.key })
    await page.locator('.chart canvas').first().waitFor()
    await page.emulateMedia({ forcedColors: 'active' })
    const wanted = await systemColours(page, ['LinkText', 'GrayText'])
    expect(new Set(wanted).size).toBe(2)

    await expect.poll(() => paintedOn(page)).toEqual(expect.arrayContaining([...wanted]))
  })
})
