import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { hindrancesOn } from '../support/console/accessible.ts'
import type { SignInKey } from '../support/console/browser-pages.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { firedAlert } from '../support/console/fired-alert.ts'

const at = consoleTests()

const readScopes = [
  'vaults:read',
  'streams:read',
  'data:read',
  'attachments:read',
  'notifications:read',
  'webhooks:read',
] as const

let streamId = ''
let vaultId = ''
let webhookId = ''
let alertId = ''
let reader: SignInKey

beforeAll(async () => {
  const { api } = at
  reader = await at.keyWith(...readScopes)
  streamId = await api.createStream(
    { temperature: { type: 'number' } },
    { processing: { alertThresholds: { temperature: { max: 80 } } } },
  )
  await api.withToken('POST', `/streams/${streamId}/data`, { temperature: 91 })
  await api.withToken('POST', `/streams/${streamId}/data`, { temperature: 'hot' })
  vaultId = (await api.withToken<{ vaultId: string }>('GET', `/streams/${streamId}`)).body.vaultId
  const webhook = { url: 'https://example.com/hook', event_types: ['vault.created'] }
  webhookId = (await api.withKey<{ id: string }>('POST', '/notifications/webhooks', webhook)).body
    .id
  alertId = await firedAlert(api, streamId)
})

/** What changes something, or leads to where something is changed. */
const deeds =
  /^(?:acknowledge|resolve|run now|enable|pause|resume|send a test|mark |archive|delete|remove|end it|new |make |save|redrive|upload|add )/i

/** Opens an address, and tells what was refused there, and what is offered that would be. */
async function offences(page: Page, path: string): Promise<readonly string[]> {
  const refused: string[] = []
  page.on('response', (response) => {
    if (response.status() === 403) refused.push(`${path}: ${response.url()} was refused`)
  })
  await page.goto(path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0)
  const offered = await page.locator('#main').locator('button, a').allInnerTexts()
  page.removeAllListeners('response')
  return [
    ...refused,
    ...offered
      .filter((text) => deeds.test(text.trim()))
      .map((text) => `${path} offers ${text.replaceAll(/\s+/g, ' ')}`),
  ]
}

describe('a key that may only read', () => {
  test('is offered nothing that would be refused', async () => {
    const page = await at.signedIn('/console/alerts', { key: reader })
    const found = []
    for (const path of [
      '/console/alerts',
      '/console/inbox',
      '/console/webhooks',
      '/console/sources',
      '/console/streams',
      '/console/vaults',
      '/console/quarantine',
      `/console/streams/${streamId}`,
      `/console/streams/${streamId}/history`,
      `/console/streams/${streamId}/status`,
      `/console/streams/${streamId}/definition`,
      `/console/streams/${streamId}/quarantine`,
      `/console/streams/${streamId}/access`,
      `/console/vaults/${vaultId}`,
      `/console/record/alert/${alertId}`,
      `/console/record/webhook/${webhookId}`,
      `/console/record/source/${streamId}`,
    ]) {
      found.push(...(await offences(page, path)))
    }
    expect(found).toEqual([])
  })

  test('is offered less than one that may do more', async () => {
    const page = await at.signedIn('/console/alerts')
    expect(await offences(page, '/console/alerts')).toEqual([
      '/console/alerts offers Acknowledge temperature.max',
    ])
  })

  test('is told what it lacks where a page needs more', async () => {
    const page = await at.signedIn('/console/streams/new', { key: reader })
    await page.getByText('streams:write').first().waitFor()
    expect(await page.getByLabel('One message').count()).toBe(0)
    expect(await hindrancesOn(page)).toEqual([])
  })

  test.for([
    ['streams:write', 'streams:read'],
    ['data:read', 'streams:read'],
    ['streams:read', 'data:read'],
  ])(
    'with %s alone is told of %s where an address leads to more',
    async ([scope = '', missing]) => {
      const page = await at.signedIn('/console/signed-in', { key: await at.keyWith(scope) })
      for (const path of [`/console/streams/${streamId}/quarantine`, '/console/quarantine']) {
        await page.goto(at.origin + path)
        await page.getByText(new RegExp(`lacks the permissions? ${missing}`)).waitFor()
        expect(await page.getByRole('button', { name: 'Try' }).count()).toBe(0)
      }
    },
  )

  test.for(readScopes)('with %s alone sees the pages of that, and no failure', async (scope) => {
    const page = await at.signedIn('/console/signed-in', { key: await at.keyWith(scope) })
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
    await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor()
    const hrefs = await links.evaluateAll((all) =>
      all.map((link) => link.getAttribute('href') ?? ''),
    )
    const found = []
    for (const href of new Set(hrefs)) found.push(...(await offences(page, href)))
    expect(found).toEqual([])
  })

  test.for([
    ['/', 'data:read'],
    ['/console/alerts', 'data:read'],
    ['/console/inbox', 'notifications:read'],
    ['/console/webhooks', 'webhooks:read'],
    ['/console/sources', 'streams:read'],
    ['/console/record/template/00000000-0000-4000-8000-000000000000', 'vaults:read'],
  ] as const)('is told at %s that it lacks %s', async ([path, scope]) => {
    const other = readScopes.find((one) => one !== scope) ?? 'data:read'
    const page = await at.signedIn(path, { key: await at.keyWith(other) })
    await page.locator('#main').getByText(scope).waitFor()
    expect(await hindrancesOn(page)).toEqual([])
  })
})
