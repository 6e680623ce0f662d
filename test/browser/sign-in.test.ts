import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { tokenRates } from '../../src/access/auth/attempt-limits.ts'
import { hindrancesOn } from '../support/console/accessible.ts'
import type { SignInKey } from '../support/console/browser-pages.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { createKey, newPerson, type Person } from '../support/people.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const at = consoleTests()
const services = startedServices()

const admin: SignInKey = { apiKey: adminKey, apiSecret: adminSecret }

function keyOn(page: Page) {
  return page.getByRole('textbox', { name: 'Key', exact: true })
}

async function fill(page: Page, { apiKey, apiSecret }: SignInKey): Promise<void> {
  await keyOn(page).fill(apiKey)
  await page.getByLabel('Secret').fill(apiSecret)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function overviewOn(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}

/** Ends all sessions that a key has, as somebody does who has lost a notebook. */
async function endSessionsOf(
  { apiKey }: SignInKey,
  api: Pick<Person, 'withToken'> = at.api,
): Promise<void> {
  const { body } = await api.withToken<{ id: string; apiKeyId: string }[]>(
    'GET',
    '/console/sessions',
  )
  const ended = body.filter((session) => session.apiKeyId === apiKey)
  expect(ended).not.toEqual([])
  for (const { id } of ended) {
    expect((await api.withToken('DELETE', `/console/sessions/${id}`)).status).toBe(204)
  }
}

test('a key and its secret lead to the page that was asked for', async () => {
  const page = await at.open('/console/alerts?state=firing')
  await keyOn(page).waitFor()
  expect(await keyOn(page).evaluate((box) => box === document.activeElement)).toBe(true)
  expect(await hindrancesOn(page)).toEqual([])

  await fill(page, admin)

  await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor()
  expect(page.url()).toBe(`${at.origin}/console/alerts?state=firing`)
  await page.locator('[popovertarget="session-menu"]').click()
  await page.getByText('however much it is used; earlier when it is not').waitFor()
})

test('a wrong secret is refused in words, and the right one is taken after it', async () => {
  const page = await at.open('/')

  await fill(page, { apiKey: adminKey, apiSecret: 'wrong' })
  const alert = page.getByRole('alert')
  await alert.waitFor()

  expect(await alert.innerText()).toContain('invalid_api_key')
  expect(await keyOn(page).inputValue()).toBe(adminKey)
  expect(await hindrancesOn(page)).toEqual([])
  await fill(page, admin)
  await overviewOn(page)
})

test('who has tried too often is told when to come back, and can then', async () => {
  const { key } = await newPerson(at.api)
  const wrong = { apiKey: key.apiKey, apiSecret: 'wrong' }
  const page = await at.open('/')
  await keyOn(page).waitFor()
  for (let count = 0; count < tokenRates.failuresOfPair.burst; count++) {
    await at.api.request('POST', '/auth/token', { body: wrong })
  }
  const button = page.getByRole('button', { name: 'Sign in' })

  await fill(page, wrong)
  await page
    .getByRole('alert')
    .getByText(/^Again in \d+ s/)
    .waitFor()

  expect(await page.getByRole('alert').innerText()).toContain('rate_limited')
  expect(await button.isDisabled()).toBe(true)
  await expect.poll(() => button.isEnabled()).toBe(true)
  await fill(page, key)
  await overviewOn(page)
})

test('what a key may not do is not offered', async () => {
  const key = await at.keyWith('streams:read', 'vaults:read')
  const page = await at.signedIn('/console/streams', { key })
  const places = page.getByRole('navigation').first().getByRole('link')
  await places.first().waitFor()

  expect(await places.allInnerTexts()).toEqual(['Streams', 'Vaults', 'Sources'])
  // A heading with nothing below it would be one of nothing.
  expect(await page.getByRole('heading', { name: 'Notifications' }).count()).toBe(0)
})

test('a session outlasts the page', async () => {
  const page = await at.signedIn('/console/')
  await overviewOn(page)

  await page.reload()

  await overviewOn(page)
})

test('a key that is revoked ends what it was used for, and another one goes on', async () => {
  const key = await createKey(at.api)
  const page = await at.signedIn('/console/webhooks', { key })
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()

  expect((await at.api.withKey('DELETE', `/keys/${key.apiKey}`)).status).toBe(204)
  const dialog = page.getByRole('dialog', { name: 'Your session is over' })
  await dialog.waitFor()

  expect(await hindrancesOn(page)).toEqual([])
  await fill(page, { apiKey: key.apiKey, apiSecret: key.apiSecret })
  await dialog.getByText('invalid_api_key').waitFor()
  await fill(page, admin)
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Alerts' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor()
})

test('who is signed out amid a definition loses nothing that was typed', async () => {
  const key = await createKey(at.api)
  const page = await at.signedIn('/console/streams/new', { key })
  const sample = page.getByLabel('One message, or some of them')
  await sample.fill('{"temperature": 21.5}')
  await page.getByRole('button', { name: 'Propose a stream' }).click()
  const name = page.getByLabel('Name of the stream')
  await name.fill('boiler 7 <b>"')
  // The session ends when the call is on its way, and not before: else a dialog is over the button.
  await page.route(
    '**/streams',
    async (route) => {
      await endSessionsOf(key)
      await route.continue()
    },
    { times: 1 },
  )

  await page.getByRole('button', { name: 'Make the stream' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your session is over' })
  await dialog.waitFor()
  expect(await keyOn(page).inputValue()).toBe(key.apiKey)
  expect(await name.inputValue()).toBe('boiler 7 <b>"')
  expect(await sample.inputValue()).toBe('{"temperature": 21.5}')
  await fill(page, key)
  await dialog.waitFor({ state: 'detached' })

  // The call that was refused is made again by itself, and once.
  await page.getByText('mosquitto_pub').first().waitFor()
  const { body } = await at.api.withToken<{ name: string }[]>('GET', '/streams')
  expect(body.map((stream) => stream.name)).toEqual(['boiler 7 <b>"'])
})

test('what somebody was about to do is not done for another who signs in over the page', async () => {
  const first = await newPerson(at.api)
  const other = await newPerson(at.api)
  const page = await at.signedIn('/console/vaults/new', { key: first.key })
  await page.getByLabel('Name', { exact: true }).fill('theirs')
  await page.getByRole('radio', { name: 'A new one' }).check()
  await page.getByLabel('Name of the template').fill('theirs')
  await page.getByLabel('Hint').fill('theirs')
  await page.route(
    '**/templates',
    async (route) => {
      await endSessionsOf(first.key, first)
      await route.continue()
    },
    { times: 1 },
  )
  await page.getByRole('button', { name: 'Make the vault' }).click()
  await page.getByRole('dialog', { name: 'Your session is over' }).waitFor()

  const loaded = page.waitForEvent('load')
  await fill(page, other.key)
  await loaded

  await page.getByRole('heading', { level: 1, name: 'New vault' }).waitFor()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('')
  for (const person of [first, other]) {
    expect((await person.withKey('GET', '/templates')).body).toMatchObject({ content: [] })
  }
})

test('a session that is begun anew in one tab goes on in another as soon as it is seen', async () => {
  const key = await createKey(at.api)
  const page = await at.signedIn('/console/webhooks', { key })
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  await endSessionsOf(key)
  const dialog = page.getByRole('dialog', { name: 'Your session is over' })
  await dialog.waitFor()
  expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('secret')

  const second = await page.context().newPage()
  await second.goto(`${at.origin}/console/`)
  await fill(second, key)
  await overviewOn(second)
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))

  await dialog.waitFor({ state: 'detached' })
})

test('a tab notices that somebody else has signed in in another one', async () => {
  const { key } = await newPerson(at.api)
  const page = await at.signedIn('/console/webhooks', { key })
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
  const second = await page.context().newPage()
  await second.goto(`${at.origin}/console/`)
  await second.getByRole('button', { name: /UTC|GMT|[+-]\d/ }).click()
  await second.getByRole('button', { name: 'Sign out' }).click()
  await expect.poll(() => second.title()).toBe('Sign in · Streamvault')
  await fill(second, admin)
  await overviewOn(second)

  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))

  await page.getByRole('button', { name: /^admin/ }).waitFor()
})

test('who signs out is out, and the way back leads nowhere', async () => {
  const page = await at.signedIn('/console/')
  await overviewOn(page)

  await page.getByRole('button', { name: /UTC|GMT|[+-]\d/ }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('Secret').waitFor()
  await page.reload()

  await page.getByLabel('Secret').waitFor()
  expect(await page.context().cookies()).toEqual([])
})

test('two services on one host are two sessions', async () => {
  const other = await services.start(services.newFolder())
  const page = await at.signedIn('/console/', { others: [other.http] })
  const second = await page.context().newPage()

  await second.goto(`${other.http}/console/`)
  await fill(second, admin)
  await overviewOn(second)
  await page.reload()
  await overviewOn(page)
  await second.reload()

  await overviewOn(second)
  const names = (await page.context().cookies()).map(({ name }) => name)
  expect(new Set(names).size).toBe(2)
})
