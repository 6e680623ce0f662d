import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { hindrancesOn } from '../support/console/accessible.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { firedAlert } from '../support/console/fired-alert.ts'
import { sidewaysPixels } from '../support/console/unwanted-markup.ts'

const at = consoleTests()
let streamId = ''

beforeAll(async () => {
  streamId = await at.api.createStream(
    { temperature: { type: 'number' } },
    { processing: { alertThresholds: { temperature: { max: 80 } } } },
  )
  await at.api.withToken('POST', `/streams/${streamId}/data`, { temperature: 91 })
  await at.api.withToken('POST', `/streams/${streamId}/validate`, { temperature: 'hot' })
  await firedAlert(at.api, streamId)
})

/** Hides a page from its own scripts, as another tab before it would. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, isHidden)
}

/** The line of what needs somebody that has this text. */
function needOf(page: Page, text: string) {
  return page.locator('#main li[data-row]').filter({ hasText: text })
}

describe('the overview', () => {
  test.for([360, 1280])('hinders nobody, and fits, at %i pixels', async (width) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await at.signedIn('/console/', { viewport: { width, height: 800 }, colorScheme })
      await needOf(page, 'temperature.max').waitFor()
      expect(await hindrancesOn(page)).toEqual([])
      expect(await sidewaysPixels(page)).toBeLessThanOrEqual(0)
    }
  })

  test('leads from each figure to what it counts', async () => {
    const page = await at.signedIn('/console/')
    await page.getByRole('link', { name: '1 warning' }).click()
    await page.getByRole('link', { name: 'temperature.max' }).waitFor()
    expect(new URL(page.url()).search).toBe('?state=firing&severity=warning')

    await page.goBack()
    await page.getByRole('link', { name: '1 active' }).click()
    await page.getByRole('link', { name: 'temperature' }).first().waitFor()
    expect(new URL(page.url()).search).toBe('?state=active')
  })

  test('says since when its curve is known, and has its figures as a table', async () => {
    const page = await at.signedIn('/console/')
    await page.getByText('Nothing is known from before the service was started').waitFor()
    await page.getByText('Figures').click()
    expect(await page.getByRole('row').count()).toBe(60)
    await page.getByRole('cell', { name: 'unknown' }).first().waitFor()
  })

  test('keeps what it knew when a call fails, and says how old it is', async () => {
    const page = await at.signedIn('/console/')
    await needOf(page, 'temperature.max').waitFor()
    await page.route('**/overview', (route) =>
      route.fulfill({
        status: 500,
        json: { error: 'internal_error', message: 'something broke', statusCode: 500 },
      }),
    )
    await page.getByText(/As it was .* ago: something broke/).waitFor()
    expect(await needOf(page, 'temperature.max').count()).toBe(1)
    expect(await hindrancesOn(page)).toEqual([])

    // A failure does not end that it is loaded again and again.
    await page.unroute('**/overview')
    await page.getByText(/As it was/).waitFor({ state: 'detached' })
  })

  test('asks for nothing while it is hidden, and at once when it is seen', async () => {
    const page = await at.signedIn('/console/')
    await page.clock.install()
    await page.reload()
    await needOf(page, 'temperature.max').waitFor()
    await setHidden(page, true)
    let asked = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/overview')) asked += 1
    })
    // Longer than it would wait if it were seen.
    await page.clock.runFor(60_000)
    expect(asked).toBe(0)

    await setHidden(page, false)
    await expect.poll(() => asked).toBe(1)
  })

  test.for([-1, 1])(
    'tells ages by the clock of the service (browser off by %i days)',
    async (days) => {
      const page = await at.signedIn('/console/')
      await page.clock.install({ time: Date.now() + days * 86_400_000 })
      await page.reload()
      await needOf(page, 'temperature.max').waitFor()
      expect(await needOf(page, 'temperature.max').innerText()).toMatch(
        /(?: (?:s|min) ago|just now)/,
      )
    },
  )

  test('acknowledges an alert at once', async () => {
    const page = await at.signedIn('/console/')
    expect(await needOf(page, 'temperature.max').innerText()).toContain('91, limit 80')
    await needOf(page, 'temperature.max').getByRole('button', { name: 'Acknowledge' }).click()
    await needOf(page, 'temperature.max').waitFor({ state: 'detached' })
    // Who works by keys does not begin at the top of the document.
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    await page.getByRole('link', { name: '1 acknowledged' }).waitFor()
  })
})
