import { beforeAll, expect, test } from 'vitest'
import { arriveAt } from '../../support/console/arrival.ts'
import { callsDuring, faults } from '../../support/console/broken-calls.ts'
import { consoleTests } from '../../support/console/console-tests.ts'
import { type FilledConsole, fillConsole } from '../../support/console/filled-console.ts'
import { pagesThatAsk, wrongWith } from '../../support/console/honesty.ts'

const at = consoleTests()
let filled: FilledConsole

/** What a page is shown without: names of vaults and streams in a list, what a menu offers. */
const lesserCalls = /^GET \/(?:vaults|templates|devices)(?:\/[^/]+)?$/

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

/** Each call meets two of the faults, in turns: all of them with each one would take half an hour. */
const turns = 2

test('each call of each page alone fails, and is told of', async () => {
  const page = await at.signedIn('/console/signed-in', { key: filled.key })
  const secret = filled.key.apiSecret
  page.setDefaultTimeout(20_000)
  const found = []
  let turn = 0
  for (const one of pagesThatAsk(filled.pages)) {
    const calls = await callsDuring(page, () => arriveAt(page, one.path))
    for (const only of calls) {
      if (lesserCalls.test(only) || (one.name === 'alerts' && only !== 'GET /alerts')) continue
      for (let nth = 0; nth < turns; nth += 1) {
        const fault = faults[turn % faults.length] ?? 500
        turn += 3
        found.push(...(await wrongWith(page, one, { fault, only, secret })))
      }
    }
  }
  expect(found).toEqual([])
})
