import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { arrived } from '../support/console/arrival.ts'
import { BrokenCalls, faults } from '../support/console/broken-calls.ts'
import { browserTests } from '../support/console/browser-tests.ts'
import { type FilledConsole, fillConsole } from '../support/console/filled-console.ts'
import { pagesThatAsk, signInOver, wrongWith } from '../support/console/honesty.ts'
import { runningService } from '../support/running-service.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const service = runningService()
const browser = browserTests()
let filled: FilledConsole

beforeAll(async () => {
  filled = await fillConsole(service)
})

async function open(path: string, origin = service.process.http): Promise<Page> {
  const page = await browser.signedIn(origin, path, { key: filled.key })
  await arrived(page)
  return page
}

/** Each page meets some of the faults here, and all of them, of each call alone, in the deep tests. */
const share = 4

describe('a call that fails', () => {
  test.for(faults.map((fault, nth) => ({ fault, nth })))(
    'never looks like emptiness, and is told: $fault',
    async ({ fault, nth }) => {
      const page = await open('/console/signed-in')
      page.setDefaultTimeout(20_000)
      const shown = pagesThatAsk(filled.pages).filter((_, at) => (at + nth) % share === 0)
      const found = []
      for (const one of shown) {
        found.push(...(await wrongWith(page, one, { fault, secret: filled.key.apiSecret })))
      }
      expect(found).toEqual([])
    },
  )

  test('is tried once more by itself, and then waits for somebody', async () => {
    const page = await open('/console/signed-in')
    await using broken = await BrokenCalls.begin(page, 503)
    // A page that is not loaded again each so often.
    await page.goto(filled.pages.find(({ name }) => name === 'record template')?.path ?? '')
    const countdown = page.locator('#main').getByText(/again in \d/)
    await countdown.waitFor()
    await countdown.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Try again' }).waitFor()

    expect([...broken.made.values()]).toEqual([2])
    await broken.heal()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' })
    await arrived(page)
  })
})

describe('a session that ends', () => {
  test('costs neither filters, nor what is typed, nor the place in the page', async () => {
    const page = await open('/console/streams?state=active&sort=name')
    await page.setViewportSize({ width: 1280, height: 360 })
    await page.getByRole('searchbox').fill('boiler')
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('boiler')
    await arrived(page)
    await page.evaluate(() => scrollTo(0, 60))
    const { search } = new URL(page.url())
    const before = await page.evaluate(() => scrollY)
    await using broken = await BrokenCalls.begin(page, 401)

    await page.getByRole('dialog', { name: 'Your session is over' }).waitFor()
    await broken.heal()
    await signInOver(page, filled.key.apiSecret)

    await arrived(page)
    expect(before).toBeGreaterThan(0)
    expect(await page.evaluate(() => scrollY)).toBe(before)
    expect(new URL(page.url()).search).toBe(search)
    expect(await page.getByRole('searchbox').inputValue()).toBe('boiler')
    await page.locator('tr[data-row]').first().waitFor()
  })
})

describe('a network that is cut', () => {
  test('is told in one line, keeps what was there, and is back by itself', async () => {
    await using proxy = await TcpProxy.start(Number(new URL(service.process.http).port))
    const page = await open('/console/streams', `http://127.0.0.1:${proxy.port}`)
    const row = page.locator('tr[data-row]').first()
    const line = page.getByText('Not connected since')
    await row.waitFor()

    proxy.cut()
    await line.waitFor()
    await page.getByText(/As it was .* ago/).waitFor()
    expect(await row.isVisible()).toBe(true)
    expect(await page.getByText('Not connected since').count()).toBe(1)
    proxy.mend()

    await line.waitFor({ state: 'detached' })
    await page.getByText(/As it was/).waitFor({ state: 'detached' })
  })
})

describe('a part of the console that is gone', () => {
  test('after an update asks for the page to be loaded again, once', async () => {
    const page = await open('/console/signed-in')
    await page.route('**/console/assets/**', (route) => route.fulfill({ status: 404 }))
    await page.getByRole('link', { name: 'Webhooks' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'This page could not be loaded' }).waitFor()

    await page.unrouteAll()
    await page.getByRole('button', { name: 'Load the page again' }).click()

    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  })

  test('while the service is away is told as that', async () => {
    await using proxy = await TcpProxy.start(Number(new URL(service.process.http).port))
    const page = await open('/console/signed-in', `http://127.0.0.1:${proxy.port}`)
    proxy.cut()
    await page.getByRole('link', { name: 'Webhooks' }).first().click()
    await page.locator('#main').getByText('unreachable').waitFor()

    proxy.mend()
    await page.getByRole('button', { name: 'Load the page again' }).click()

    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  })
})
