import type { Page, Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { ApiServer } from '../support/api-server.ts'
import { consoleTests } from '../support/console/console-tests.ts'

const at = consoleTests()

/** A server of somebody else on the same host: to a browser it is the same site, so that it sends the cookie there. */
async function elsewhere() {
  return await ApiServer.start((_, answer) => {
    answer.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Elsewhere')
  })
}

/** A page of another port, in a browser that is signed in at the service. */
async function lured(origin: string, ...others: readonly string[]): Promise<Page> {
  const page = await at.signedIn('/console/', { foreign: [origin, ...others] })
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.goto(origin)
  return page
}

/** Requests of a page to an address, as they come to an end: the answers are hidden from the page, and from us. */
function endedRequests(page: Page, url: string): readonly string[] {
  const ended: string[] = []
  const note = (request: Request) => void (request.url() === url && ended.push(request.method()))
  page.on('requestfinished', note)
  page.on('requestfailed', note)
  return ended
}

async function streamNames(): Promise<readonly string[]> {
  const { body } = await at.api.withToken<{ name: string }[]>('GET', '/streams')
  return body.map(({ name }) => name)
}

interface Attempt {
  readonly method?: string
  readonly mode?: RequestMode
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What a page gets when it asks as its script says: the status, or that the browser has refused. */
async function asked(page: Page, path: string, init: Attempt = {}): Promise<number | string> {
  return await page.evaluate(
    async ([url, options]) => {
      try {
        return (await fetch(url, { credentials: 'include', ...options })).status
      } catch {
        return 'refused by the browser'
      }
    },
    [new URL(path, at.origin).href, init] as const,
  )
}

test('a page of another port cannot ask as the session', async () => {
  await using server = await elsewhere()
  const page = await lured(server.origin)
  const header = { 'x-streamvault-interface': 'bearer' }

  expect(await asked(page, '/streams', { headers: header })).toBe('refused by the browser')
  expect(await asked(page, '/streams')).toBe('refused by the browser')
  expect(await asked(page, '/console/session', { headers: header })).toBe('refused by the browser')
})

test('a page of another port changes nothing with requests that need no leave', async () => {
  const vaultId = await at.api.createVault()
  await using server = await elsewhere()
  const page = await lured(server.origin)
  const body = JSON.stringify({ name: 'planted', vaultId, type: 'iot_sensor' })
  const url = `${at.origin}/streams`
  const ended = endedRequests(page, url)

  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const headers = { 'content-type': type }
    await asked(page, '/streams', { method: 'POST', mode: 'no-cors', headers, body })
  }
  // Bytes of no type have no header that says one.
  await page.evaluate(
    async ([to, bytes]) => {
      const init = { method: 'POST', mode: 'no-cors', credentials: 'include' } as const
      await fetch(to, { ...init, body: new Blob([bytes]) }).catch(() => undefined)
    },
    [url, body] as const,
  )

  await expect.poll(() => ended.length).toBe(3)
  expect(await streamNames()).not.toContain('planted')
})

test('a form of another page does nothing', async () => {
  await using server = await elsewhere()
  const page = await lured(server.origin)
  const submitted = page.waitForResponse((response) => response.url().endsWith('/vaults'))

  await page.evaluate((url) => {
    const form = document.createElement('form')
    Object.assign(form, { action: url, method: 'POST', enctype: 'text/plain' })
    document.body.append(form)
    form.submit()
  }, `${at.origin}/vaults`)

  expect((await submitted).status()).toBeGreaterThanOrEqual(400)
})

test('a page that hides its origin changes nothing', async () => {
  const vaultId = await at.api.createVault()
  await using server = await elsewhere()
  const origins: (string | undefined)[] = []
  // Sent on by a third server, a request comes with the origin `null`.
  await using third = await ApiServer.start(({ headers }, answer) => {
    origins.push(headers.origin)
    answer.writeHead(307, { location: `${at.origin}/streams` }).end()
  })
  const page = await lured(server.origin, third.origin)
  const ended = endedRequests(page, `${at.origin}/streams`)

  await page.evaluate(
    async ([to, body]) => {
      const init = { method: 'POST', mode: 'no-cors', credentials: 'include' } as const
      await fetch(to, { ...init, body: new Blob([body]) }).catch(() => undefined)
    },
    [third.origin, JSON.stringify({ name: 'hidden', vaultId, type: 'iot_sensor' })] as const,
  )

  await expect.poll(() => ended).toEqual(['POST'])
  expect(origins).toEqual([server.origin])
  expect(await streamNames()).not.toContain('hidden')
})

test('no page elsewhere opens a WebSocket with the session', async () => {
  const streamId = await at.api.createStream()
  await using server = await elsewhere()
  const page = await lured(server.origin)
  const url = `${at.origin.replace('http', 'ws')}/streams/${streamId}/tail`

  const outcome = await page.evaluate(
    (address) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(address)
        socket.addEventListener('open', () => resolve('open'))
        socket.addEventListener('error', () => resolve('refused'))
      }),
    url,
  )

  expect(outcome).toBe('refused')
})

test('no page elsewhere shows the console in a frame', async () => {
  await using server = await elsewhere()
  const page = await lured(server.origin)

  await page.evaluate((url) => {
    const frame = document.createElement('iframe')
    frame.src = url
    document.body.append(frame)
    return new Promise((resolve) => frame.addEventListener('load', resolve))
  }, `${at.origin}/console/`)

  const [, framed] = page.frames()
  expect(await framed?.evaluate(() => document.body.innerText)).not.toContain('Overview')
})

test('no script of the page itself reads the cookie', async () => {
  const page = await at.signedIn('/console/')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()

  expect(await page.evaluate(() => document.cookie)).toBe('')
  const [cookie] = await page.context().cookies()
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
})

test('an id that a browser came with is none that it signs in with', async () => {
  const page = await at.signedIn('/console/')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const [before] = await page.context().cookies()
  if (!before) throw new Error('there is no cookie')
  const headers = { 'x-streamvault-interface': 'bearer' }
  expect(await asked(page, '/streams', { headers })).toBe(200)
  await page.getByRole('button', { name: /UTC|GMT|[+-]\d/ }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Secret').waitFor()

  await page.context().addCookies([before])
  await page.reload()

  await page.getByLabel('Secret').waitFor()
  expect(await asked(page, '/streams', { headers })).toBe(401)
})
