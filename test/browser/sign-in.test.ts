import { expect, test } from 'vitest'
import { hindrancesOn } from '../support/console/accessible.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const at = consoleTests()

test('a key and its secret lead to the overview', async () => {
  const page = await at.open('/')

  await page.getByLabel('Key').fill(adminKey)
  await page.getByLabel('Secret').fill(adminSecret)
  await page.getByRole('button', { name: 'Sign in' }).click()

  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  expect(await hindrancesOn(page)).toEqual([])
})

test('a session stays over a reload', async () => {
  const page = await at.signedIn('/console/')

  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
})
