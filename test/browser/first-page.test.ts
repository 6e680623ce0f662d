import { expect, test } from 'vitest'
import { consoleTests } from '../support/console/console-tests.ts'
import { firstPageBytes } from '../support/console/first-page.ts'
import { makeStreams } from '../support/console/many-streams.ts'
import { signIn } from '../support/console/signing-in.ts'

const at = consoleTests()

/** People on the road wait for it. 80 KB is what is wanted; `bench/console/` looks at that. */
const bytesMax = 150_000

test('who is not signed in gets a small page', async () => {
  const page = await at.open('/docs')

  const bytes = await firstPageBytes(page, async () => {
    await page.goto('/console/')
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })

  expect(bytes).toBeLessThan(bytesMax)
  expect(bytes).toBeGreaterThan(10_000)
})

test('who is signed in gets a small overview', async () => {
  await makeStreams(at.api, 1)
  const page = await at.open('/docs')
  await signIn(page, at.origin)

  const bytes = await firstPageBytes(page, async () => {
    await page.goto('/console/')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.getByText('Needs you').waitFor()
  })

  expect(bytes).toBeLessThan(bytesMax)
  expect(bytes).toBeGreaterThan(10_000)
})
