import { beforeAll, expect, test } from 'vitest'
import { faults } from '../../support/console/broken-calls.ts'
import { consoleTests } from '../../support/console/console-tests.ts'
import { type FilledConsole, fillConsole } from '../../support/console/filled-console.ts'
import { pagesThatAsk, wrongWith } from '../../support/console/honesty.ts'

const at = consoleTests()
let filled: FilledConsole

beforeAll(async () => {
  filled = await fillConsole(at.service)
})

test.for(faults)('all calls of each page are told to be: %s', async (fault) => {
  const page = await at.signedIn('/console/signed-in', { key: filled.key })
  const secret = filled.key.apiSecret
  page.setDefaultTimeout(20_000)
  const found = []
  for (const one of pagesThatAsk(filled.pages)) {
    found.push(...(await wrongWith(page, one, { fault, secret })))
  }
  expect(found).toEqual([])
})
