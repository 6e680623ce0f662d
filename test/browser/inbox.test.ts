import { expect, test } from 'vitest'
import { hindrancesOn } from '../support/console/accessible.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { firedAlert } from '../support/console/fired-alert.ts'

const at = consoleTests()

test('what is unread is counted as it comes, in the title too, until it is read', async () => {
  const page = await at.signedIn('/console/webhooks')
  await page.getByRole('link', { name: 'Inbox, nothing unread' }).waitFor()
  await expect.poll(() => page.title()).toBe('Webhooks · Streamvault')

  await at.api.createVault()
  await page.getByRole('link', { name: 'Inbox, 1 unread' }).click()
  await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
  await expect.poll(() => page.title()).toBe('(1) Inbox · Streamvault')
  await page.getByText('Vault created: boiler 7').waitFor()
  expect(await hindrancesOn(page)).toEqual([])

  // Another comes while the list is looked at.
  await at.api.createVault()
  await expect.poll(() => page.getByText('Vault created: boiler 7').count()).toBe(2)

  await page
    .getByRole('button', { name: /^Mark as read.*Vault created/ })
    .first()
    .click()
  await page.getByRole('link', { name: 'Inbox, 1 unread' }).waitFor()
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await page.getByRole('link', { name: 'Inbox, nothing unread' }).waitFor()
  await expect.poll(() => page.title()).toBe('Inbox · Streamvault')

  await page.getByRole('button', { name: 'Archive what is read' }).click()
  await page.getByRole('heading', { name: 'The inbox is empty' }).waitFor()
})

test('only one stream of the inbox is open, and none while the page is hidden', async () => {
  const page = await at.signedIn('/console/webhooks')
  const open = new Set<string>()
  page.on('request', (request) => {
    if (request.url().endsWith('/notifications/in-app/stream')) open.add('open')
  })
  page.on('requestfailed', (request) => {
    if (request.url().endsWith('/notifications/in-app/stream')) open.delete('open')
  })
  await page.reload()
  await expect.poll(() => open.size).toBe(1)

  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await expect.poll(() => open.size).toBe(0)
  await at.api.createVault()

  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: false, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await expect.poll(() => open.size).toBe(1)
  await page.getByRole('link', { name: /Inbox, \d+ unread/ }).waitFor()
})

test('an entry leads to what it is about', async () => {
  const streamId = await at.api.createStream(
    { temperature: { type: 'number' } },
    { processing: { alertThresholds: { temperature: { max: 80 } } } },
  )
  await at.api.withToken('POST', `/streams/${streamId}/data`, { temperature: 91 })
  const alertId = await firedAlert(at.api, streamId)
  const page = await at.signedIn('/console/inbox')

  await page.getByRole('link', { name: 'alert', exact: true }).click()
  await page.waitForURL(`**/console/record/alert/${alertId}`)
  await page.goBack()

  await page
    .getByRole('link', { name: /^Stream created/ })
    .first()
    .click()
  await page.getByRole('link', { name: 'What it is about' }).click()
  await page.waitForURL(`**/console/streams/${streamId}`)
  await page.getByRole('heading', { level: 1, name: 'temperature' }).waitFor()
})
