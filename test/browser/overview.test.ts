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

    await page.unroute('**/overview')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(/As it was/).waitFor({ state: 'detached' })
  })

  test('acknowledges an alert at once', async () => {
    const page = await at.signedIn('/console/')
    await needOf(page, 'temperature.max').getByRole('button', { name: 'Acknowledge' }).click()
    await needOf(page, 'temperature.max').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: '1 acknowledged' }).waitFor()
  })
})
