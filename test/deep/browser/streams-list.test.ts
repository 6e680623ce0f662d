import { beforeAll, expect, test } from 'vitest'
import { consoleTests } from '../../support/console/console-tests.ts'
import { makeStreams } from '../../support/console/many-streams.ts'

const at = consoleTests()
const count = 10_000

beforeAll(async () => {
  await makeStreams(at.api, count)
}, 600_000)

test('ten thousand streams are a page of few elements, and found to the last one', async () => {
  const page = await at.signedIn('/console/streams')
  await page.getByText('1 to 100 of 10,000 streams').waitFor()
  const elements = await page.evaluate(() => document.querySelectorAll('*').length)
  expect(elements).toBeLessThan(8000)

  await page.getByRole('searchbox').fill('sensor 9999')
  await expect
    .poll(() => page.locator('tr[data-row] .name-link').allTextContents())
    .toEqual(['sensor 9999'])
})

test('each of them is on one page', async () => {
  const page = await at.signedIn('/console/streams')
  const met: string[] = []
  for (let number = 1; number <= count / 100; number += 1) {
    await page.getByText(`page ${number} of 100`, { exact: true }).waitFor()
    await page.getByText(`${((number - 1) * 100 + 1).toLocaleString('en')} to`).waitFor()
    met.push(...(await page.locator('tr[data-row] .name-link').allTextContents()))
    const next = page.getByRole('link', { name: 'Next' })
    if (number < count / 100) await next.click()
  }
  expect(met).toEqual(Array.from({ length: count }, (_, nth) => `sensor ${nth}`))
})
