import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { arriveAt, arrived } from '../support/console/arrival.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { type FilledConsole, fillConsole } from '../support/console/filled-console.ts'

// Violations, requests to elsewhere and what is kept are faults of each test: the pages are watched.
const at = consoleTests()
let filled: FilledConsole

beforeAll(async () => {
  filled = await fillConsole(at.service)
})

/** Styles that stand in the document, and scripts without an address: none of ours do. */
async function inlinePartsOf(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() =>
    [...document.querySelectorAll('style, script:not([src]), [onclick], [onload], [onerror]')].map(
      (element) => element.outerHTML.slice(0, 200),
    ),
  )
}

test('the policy is the strictest that there is', async () => {
  const { headers } = await at.api.request('GET', '/console/')
  const directives = headers.get('content-security-policy')?.split('; ').toSorted() ?? []

  expect(directives).toEqual(
    [
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self' data:",
      "require-trusted-types-for 'script'",
      "script-src 'self'",
      "style-src 'self'",
      "trusted-types 'none'",
    ].toSorted(),
  )
})

test('every page keeps the policy', async () => {
  const page = await at.signedIn('/console/', { key: filled.key })
  await arrived(page)

  for (const { path } of filled.pages) {
    await arriveAt(page, path)
    expect(await inlinePartsOf(page), path).toEqual([])
  }
})

test('the editor of JSON keeps it, with what it shows while one types', async () => {
  const path = `/console/streams/${filled.streamId}/definition?view=json`
  const page = await at.signedIn(path, { key: filled.key })
  const editor = page.getByRole('textbox', { name: /^Definition\./ })

  await editor.click()
  await page.keyboard.press('ControlOrMeta+f')
  await page.keyboard.press('Escape')
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText('{"name": }')
  await page.locator('.cm-lintRange-error').first().waitFor()
  await page.locator('.cm-lintRange-error').first().hover()

  expect(await inlinePartsOf(page)).toEqual([])
})

test('menus and dialogs keep it', async () => {
  const page = await at.signedIn('/console/streams', { key: filled.key })
  await arrived(page)

  await page.locator('[popovertarget="session-menu"]').click()
  await page.getByLabel('Colours').selectOption('dark')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('combobox', { name: 'Name or id' }).fill('boiler')
  await page.getByRole('dialog').getByRole('option').first().waitFor()
  expect(await inlinePartsOf(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()

  expect(await inlinePartsOf(page)).toEqual([])
})
