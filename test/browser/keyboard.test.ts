import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { hindrancesOn } from '../support/console/accessible.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { firedAlert } from '../support/console/fired-alert.ts'

const at = consoleTests()
let streamId = ''

beforeAll(async () => {
  streamId = await at.api.createStream(
    { temperature: { type: 'number' } },
    { processing: { alertThresholds: { temperature: { max: 80 } } } },
  )
  await at.api.withToken('POST', `/streams/${streamId}/data`, { temperature: 91 })
  await firedAlert(at.api, streamId)
})

/** What has the focus, in the words of its label or its text. */
async function focused(page: Page): Promise<string> {
  return await page.evaluate(() => {
    const element = document.activeElement
    if (element === null || element === document.body) return ''
    const labels = (element as Partial<HTMLInputElement>).labels ?? []
    const label = element.getAttribute('aria-label') ?? labels[0]?.textContent
    return (label ?? element.textContent ?? '').trim()
  })
}

/** Goes on by the tab key until something has the focus. */
async function tabTo(page: Page, wanted: string): Promise<void> {
  for (let steps = 0; steps < 60; steps += 1) {
    await page.keyboard.press('Tab')
    if ((await focused(page)).includes(wanted)) return
  }
  throw new Error(`the tab key does not lead to ${wanted}`)
}

async function expectPath(page: Page, path: string): Promise<void> {
  await expect.poll(() => new URL(page.url()).pathname).toBe(path)
}

describe('without a mouse', () => {
  test('pages are gone to by g and a letter', async () => {
    const page = await at.signedIn('/console/inbox')
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()

    for (const [key, path] of [
      ['a', '/console/alerts'],
      ['w', '/console/webhooks'],
      ['s', '/console/streams'],
      ['q', '/console/quarantine'],
      ['v', '/console/vaults'],
      ['i', '/console/inbox'],
      ['o', '/console/'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await expectPath(page, path)
    }
  })

  test('rows are gone along, and opened', async () => {
    const page = await at.signedIn('/console/alerts')
    await page.getByRole('link', { name: 'temperature.max' }).waitFor()

    await page.keyboard.press('j')
    expect(await focused(page)).toBe('temperature.max')
    await page.keyboard.press('k')
    expect(await focused(page)).toBe('temperature.max')
    await page.keyboard.press('Enter')

    await page.getByRole('heading', { level: 1, name: 'temperature.max' }).waitFor()
  })

  test('everything is found by its name, and the focus comes back', async () => {
    const page = await at.signedIn('/console/alerts')
    await page.getByRole('link', { name: 'temperature.max' }).waitFor()
    await page.keyboard.press('j')

    await page.keyboard.press('/')
    await page.keyboard.type('temperat')
    await page.getByRole('option', { name: streamId }).waitFor()
    expect(await hindrancesOn(page)).toEqual([])
    await page.keyboard.press('Escape')
    await expect.poll(() => focused(page)).toBe('temperature.max')

    await page.keyboard.press('Control+k')
    await page.keyboard.type('inb')
    await page.getByRole('option', { name: 'Inbox' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await expectPath(page, '/console/inbox')
  })

  test('keys are explained, and count for nothing where text is typed', async () => {
    const page = await at.signedIn('/console/streams/new')
    const sample = page.getByLabel('One message')
    await sample.focus()
    await page.keyboard.type('/?gaxjk')
    expect(await sample.inputValue()).toBe('/?gaxjk')
    expect(await page.getByRole('dialog').count()).toBe(0)

    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    expect(await hindrancesOn(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('keys can be turned off', async () => {
    const page = await at.signedIn('/console/alerts')
    await page.getByRole('link', { name: 'temperature.max' }).waitFor()
    await page.locator('[popovertarget="session-menu"]').press('Enter')
    const box = page.getByLabel('Shortcuts of single keys')
    await box.waitFor()
    await box.press('Space')
    await page.keyboard.press('Escape')

    await page.keyboard.press('?')
    await page.keyboard.press('j')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await focused(page)).not.toBe('temperature.max')
  })

  test('an alert is acknowledged', async () => {
    const page = await at.signedIn('/console/alerts')
    await page.getByRole('link', { name: 'temperature.max' }).waitFor()
    await tabTo(page, 'Acknowledge')
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'acknowledged' }).waitFor()
  })

  test('a first stream is made', async () => {
    const page = await at.signedIn('/console/streams/new')
    await page.getByLabel('One message').waitFor()
    await tabTo(page, 'One message')
    await page.keyboard.type('{"pressure": 2.1}')
    await tabTo(page, 'Propose a stream')
    await page.keyboard.press('Enter')
    await expect.poll(() => focused(page)).toBe('Name of the stream')
    await page.keyboard.type('pressure of boiler 7')
    await page.getByLabel('Vault', { exact: true }).waitFor()
    await tabTo(page, 'Make the stream')
    await page.keyboard.press('Enter')
    await page.getByText('Waiting for the first reading').waitFor()
  })

  test('the page can be skipped to', async () => {
    const page = await at.signedIn('/console/alerts')
    await page.getByRole('link', { name: 'temperature.max' }).waitFor()
    await tabTo(page, 'Skip to the page')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('State')
  })
})
