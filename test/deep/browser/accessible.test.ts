import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { hindrancesOn } from '../../support/console/accessible.ts'
import { arriveAt } from '../../support/console/arrival.ts'
import { BrokenCalls, type Fault } from '../../support/console/broken-calls.ts'
import { consoleTests } from '../../support/console/console-tests.ts'
import {
  type FilledConsole,
  fillConsole,
  plainPages,
  type ShownPage,
} from '../../support/console/filled-console.ts'
import { pagesThatAsk, tellsOf } from '../../support/console/honesty.ts'
import { newPerson } from '../../support/people.ts'

const at = consoleTests()
let filled: FilledConsole

beforeAll(async () => {
  filled = await fillConsole(at.service)
})

const themes = ['light', 'dark'] as const
const states = ['filled', 'slow', 500, 503, 403, 'cut off', 401, 'stale', 'dialog'] as const
type State = (typeof states)[number]

async function hindrancesOf(
  pages: readonly ShownPage[],
  page: Page,
  show: (path: string) => Promise<AsyncDisposable | undefined>,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const { name, path } of pages) {
    await using _ = await show(path)
    found.push(...(await hindrancesOn(page)).map((line) => `${name}: ${line}`))
  }
  return found
}

/** Leads a page into a state, which ends with what is answered. */
async function showAs(page: Page, state: State, path: string): Promise<BrokenCalls | undefined> {
  if (state === 'filled' || state === 'dialog' || state === 'stale') {
    await arriveAt(page, path)
    if (state === 'filled') return undefined
    if (state === 'stale') return await makeStale(page)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    return undefined
  }
  const broken = await BrokenCalls.begin(page, state)
  await page.goto(path)
  await tellsOf(page, state satisfies Fault)
  return broken
}

/** Pages that ask again by themselves are stale then; others stay as they were. */
async function makeStale(page: Page): Promise<BrokenCalls> {
  const broken = await BrokenCalls.begin(page, 500)
  await page.clock.runFor(20_000)
  return broken
}

for (const colorScheme of themes) {
  test.for(states)(`nobody is hindered by any page, ${colorScheme}: %s`, async (state) => {
    const page = await at.signedIn('/console/signed-in', { key: filled.key, colorScheme })
    if (state === 'stale') await page.clock.install()
    const isBroken = typeof state === 'number' || state === 'slow' || state === 'cut off'
    const pages = isBroken ? pagesThatAsk(filled.pages) : filled.pages
    expect(await hindrancesOf(pages, page, (path) => showAs(page, state, path))).toEqual([])
  })

  test(`nobody is hindered by any page, ${colorScheme}: empty`, async () => {
    const { key } = await newPerson(at.api)
    const page = await at.signedIn('/console/signed-in', { key, colorScheme })
    const show = async (path: string) => {
      await arriveAt(page, path)
      return undefined
    }
    expect(await hindrancesOf(plainPages(), page, show)).toEqual([])
  })
}
