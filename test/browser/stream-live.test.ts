import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { ApiClient } from '../support/api-client.ts'
import { hindrancesOn } from '../support/console/accessible.ts'
import { browserTests } from '../support/console/browser-tests.ts'
import { newestValues, numbers, send } from '../support/console/stream-pages.ts'
import { newDataDir, startServiceProcess } from '../support/service-process.ts'

const browser = browserTests()

/** A service that can be killed, and comes back at the same address. */
class MortalService implements AsyncDisposable {
  readonly #dataDir = newDataDir()
  #settings: Readonly<Record<string, string>> = {}
  #process: Awaited<ReturnType<typeof startServiceProcess>> | undefined

  static async start(): Promise<MortalService> {
    const service = new MortalService()
    service.#settings = {
      STREAMVAULT_HTTP_PORT: String(await freePort()),
      STREAMVAULT_MQTT_PORT: String(await freePort()),
    }
    await service.rise()
    return service
  }

  get origin(): string {
    return this.#process?.http ?? ''
  }

  get api(): ApiClient {
    return new ApiClient(this.origin)
  }

  async kill(): Promise<void> {
    await this.#process?.end('SIGKILL')
  }

  async rise(): Promise<void> {
    this.#process = await startServiceProcess(this.#dataDir, this.#settings)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.end('SIGTERM')
    rmSync(this.#dataDir, { recursive: true })
  }
}

const schema = {
  n: { type: 'integer' },
  temperature: { type: 'number', unit: 'C' },
  mode: { type: 'string' },
}

/** Readings with the numbers in [from, to), of the last minutes. */
function readings(from: number, to: number): readonly object[] {
  const firstMs = Date.now() - 60_000
  return Array.from({ length: to - from }, (_, at) => {
    const n = from + at
    return {
      timestamp: new Date(firstMs + n * 200).toISOString(),
      n,
      temperature: 20 + Math.sin(n),
      mode: n % 2 === 0 ? 'eco' : 'day',
    }
  })
}

test('what arrives is seen, and what was there before', async () => {
  await using service = await MortalService.start()
  const { api, origin } = service
  const streamId = await api.createStream(schema)
  await send(api, streamId, readings(0, 20))
  const page = await browser.signedIn(origin, `/console/streams/${streamId}`)
  await expect.poll(() => newestValues(page, 'n')).toEqual(numbers(20))

  await send(api, streamId, readings(20, 40))

  await expect.poll(() => newestValues(page, 'n')).toEqual(numbers(40))
  await page.getByText('day', { exact: true }).first().waitFor()
  expect(await page.locator('.chart canvas').count()).toBe(2)
  expect(await hindrancesOn(page)).toEqual([])
})

test('a service that was killed and is back: no reading is missing, and none comes twice', async () => {
  await using service = await MortalService.start()
  const { api, origin } = service
  const streamId = await api.createStream(schema)
  const page = await browser.signedIn(origin, `/console/streams/${streamId}`)
  await send(api, streamId, readings(0, 30))
  await expect.poll(() => newestValues(page, 'n')).toEqual(numbers(30))

  await service.kill()
  await page.getByText('cut off').waitFor()
  await page.getByText('Not connected since').waitFor()
  await service.rise()
  await send(service.api, streamId, readings(30, 60))

  await expect.poll(() => newestValues(page, 'n')).toEqual(numbers(60))
  await page.getByText('Not connected since').waitFor({ state: 'detached' })
})

test('a hidden tab rests, and has all of it when it is seen again', async () => {
  await using service = await MortalService.start()
  const { api, origin } = service
  const streamId = await api.createStream(schema)
  const page = await browser.signedIn(origin, `/console/streams/${streamId}`)
  await send(api, streamId, readings(0, 10))
  await expect.poll(() => newestValues(page, 'n')).toEqual(numbers(10))
  const hide = (isHidden: boolean) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, isHidden)

  await hide(true)
  await page.getByText('resting while hidden').waitFor()
  await send(api, streamId, readings(10, 25))
  await api.settled(streamId, 25)
  expect(await newestValues(page, 'n')).toEqual(numbers(10))
  await hide(false)

  await expect.poll(() => newestValues(page, 'n')).toEqual(numbers(25))
})

test('it is held, and follows again with what came meanwhile', async () => {
  await using service = await MortalService.start()
  const { api, origin } = service
  const streamId = await api.createStream(schema)
  await send(api, streamId, readings(0, 5))
  const page = await browser.signedIn(origin, `/console/streams/${streamId}`)
  await expect.poll(() => newestValues(page, 'n')).toEqual(numbers(5))

  await page.getByRole('button', { name: 'Hold' }).click()
  await send(api, streamId, readings(5, 12))
  await page.getByText('7 new').waitFor()
  expect(await newestValues(page, 'n')).toEqual(numbers(5))
  await page.getByRole('button', { name: 'Follow' }).click()

  await expect.poll(() => newestValues(page, 'n')).toEqual(numbers(12))
})

test('a refusal to tell readings is told, and never looks like a stream without any', async () => {
  await using service = await MortalService.start()
  const { api, origin } = service
  const streamId = await api.createStream(schema)
  await send(api, streamId, readings(0, 5))
  const page = await browser.signedIn(origin, '/console/streams')
  const error = { error: 'internal_error', message: 'something broke', statusCode: 500 }
  await page.route('**/tail?*', (route) => route.fulfill({ status: 500, json: error }))

  await page.goto(`${origin}/console/streams/${streamId}`)
  await page.getByText('something broke').waitFor()
  expect(await page.getByText(/no reading yet/i).count()).toBe(0)

  await page.unroute('**/tail?*')
  await page.getByRole('button', { name: 'Try now' }).click()
  await expect.poll(() => newestValues(page, 'n')).toEqual(numbers(5))
})
