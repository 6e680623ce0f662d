import { beforeAll, expect, test } from 'vitest'
import { arriveAt } from '../../support/console/arrival.ts'
import { callsDuring, type Fault, faults } from '../../support/console/broken-calls.ts'
import { consoleTests } from '../../support/console/console-tests.ts'
import {
  type FilledConsole,
  fillConsole,
  type ShownPage,
} from '../../support/console/filled-console.ts'
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

/** A call whose failure alone a page does not tell of, because nothing is missing that it shows. */
interface LesserCall {
  readonly pages: RegExp
  readonly call: RegExp
  /** Undefined: any. */
  readonly fault?: Fault
  readonly because: string
}

const lesserCalls: readonly LesserCall[] = [
  {
    pages: /^alerts$/,
    call: /^GET \/streams\/[^/]+$/,
    because: 'the id of a stream stands where its name would',
  },
  {
    pages: /^stream /,
    call: /^GET \/vaults\/[^/]+$/,
    because: 'the link leads to the vault, and is called so, instead of by its name',
  },
  {
    pages: /^record alert$/,
    call: /^GET \/streams\/[^/]+$/,
    fault: 404,
    because: 'the stream is gone then, and the title says so',
  },
]

function isLesser({ name }: ShownPage, call: string, fault: Fault): boolean {
  return lesserCalls.some(
    (lesser) =>
      lesser.pages.test(name) &&
      lesser.call.test(call) &&
      (lesser.fault === undefined || lesser.fault === fault),
  )
}

/** How many faults each call meets, in turns: all of them with each one would take half an hour. */
const turns = 2

/** Further than one, and no divisor of their number: neighbours meet different ones. */
const step = 3

test('each call of each page alone fails, and is told of', async () => {
  const page = await at.signedIn('/console/signed-in', { key: filled.key })
  const secret = filled.key.apiSecret
  page.setDefaultTimeout(20_000)
  const found = []
  let turn = 0
  for (const one of pagesThatAsk(filled.pages)) {
    const calls = await callsDuring(page, () => arriveAt(page, one.path))
    for (const only of calls) {
      for (let nth = 0; nth < turns; nth += 1) {
        const fault = faults[turn % faults.length] ?? 500
        turn += step
        const broken = { fault, only, isLesser: isLesser(one, only, fault), secret }
        found.push(...(await wrongWith(page, one, broken)))
      }
    }
  }
  expect(found).toEqual([])
})
