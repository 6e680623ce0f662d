import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { hindrancesInBothThemes } from '../support/console/accessible.ts'
import { arriveAt, arrived } from '../support/console/arrival.ts'
import { BrokenCalls } from '../support/console/broken-calls.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { type FilledConsole, fillConsole, plainPages } from '../support/console/filled-console.ts'
import { tellsOf } from '../support/console/honesty.ts'
import { newPerson } from '../support/people.ts'

const at = consoleTests()
let filled: FilledConsole

beforeAll(async () => {
  filled = await fillConsole(at.service)
})

/** What hinders people, by the names of pages: only of those where there is something. */
async function hindrances(
  page: Page,
  names: readonly string[],
  show: (name: string) => Promise<void>,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {}
  for (const name of names) {
    await show(name)
    const here = await hindrancesInBothThemes(page)
    if (here.length > 0) found[name] = here
  }
  return found
}

function pathOf(name: string): string {
  return filled.pages.find((one) => one.name === name)?.path ?? ''
}

async function signedIn(path = '/console/signed-in'): Promise<Page> {
  const page = await at.signedIn(path, { key: filled.key })
  await arrived(page)
  return page
}

describe('nobody is hindered, in either theme', () => {
  test('by pages with something on them', async () => {
    const page = await signedIn()
    const names = filled.pages
      .map(({ name }) => name)
      .filter((name) => !/^record (?!alert|webhook)/.test(name))

    expect(await hindrances(page, names, (name) => arriveAt(page, pathOf(name)))).toEqual({})
  })

  test('by pages that have nothing yet', async () => {
    const { key } = await newPerson(at.api)
    const page = await at.signedIn('/console/signed-in', { key })
    const names = plainPages().map(({ name }) => name)

    expect(await hindrances(page, names, (name) => arriveAt(page, pathOf(name)))).toEqual({})
  })

  // Each page in each of its states is looked at in the deep tests.
  test.for([
    ['slow', ['streams']],
    [500, ['overview', 'stream live']],
    [503, ['streams']],
    ['cut off', ['vault']],
  ] as const)('by pages whose calls are %s', async ([fault, names]) => {
    const page = await signedIn()
    const show = async (name: string) => {
      await using _ = await BrokenCalls.begin(page, fault)
      await page.goto(pathOf(name))
      await tellsOf(page, fault)
    }

    expect(await hindrances(page, names, show)).toEqual({})
  })

  test('by what was there before a call failed', async () => {
    const page = await signedIn('/console/')
    await using _ = await BrokenCalls.begin(page, 500)
    await page.getByText(/As it was/).waitFor()

    expect(await hindrancesInBothThemes(page)).toEqual([])
  })

  test('by signing in, for the first time and over the page', async () => {
    const page = await at.open('/console/')
    await page.getByLabel('Secret').waitFor()
    expect(await hindrancesInBothThemes(page)).toEqual([])

    const other = await signedIn()
    await using _ = await BrokenCalls.begin(other, 401)
    await other.goto('/console/streams')
    await other.getByRole('dialog', { name: 'Your session is over' }).waitFor()
    expect(await hindrancesInBothThemes(other)).toEqual([])
  })

  test('by menus and dialogs', async () => {
    const page = await signedIn(`/console/streams/${filled.streamId}/status`)
    await page.locator('[popovertarget="session-menu"]').click()
    expect(await hindrancesInBothThemes(page)).toEqual([])
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').waitFor()
    expect(await hindrancesInBothThemes(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByRole('combobox', { name: 'Name or id' }).fill('boiler')
    await page.getByRole('dialog').getByRole('option').first().waitFor()
    expect(await hindrancesInBothThemes(page)).toEqual([])
  })
})
