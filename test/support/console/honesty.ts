import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { arrived } from './arrival.ts'
import { BrokenCalls, brokenMessage, codes, type Fault } from './broken-calls.ts'
import type { ShownPage } from './filled-console.ts'

/** What says that there is nothing, though nobody knows: tables without rows, and words for emptiness. */
async function emptinessOn(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() =>
    [...document.querySelectorAll('#main .empty, #main table:not(:has(tbody td, tbody th))')].map(
      (element) => element.outerHTML.slice(0, 200),
    ),
  )
}

/** Waits until the page tells of a fault of all its calls, or of one of them, as it is meant to. */
export async function tellsOf(page: Page, fault: Fault, only?: string): Promise<void> {
  const main = page.locator('#main')
  if (fault === 'slow') {
    // What follows a stream has a state of its own.
    const connecting = main.locator('.badge').filter({ hasText: 'connecting' })
    await main.locator('[aria-busy="true"] .skeleton').or(connecting).first().waitFor()
    return
  }
  if (fault === 401) {
    await page.getByRole('dialog', { name: 'Your session is over' }).waitFor()
    return
  }
  if (fault === 'cut off') {
    // The others reach the service: then the network is there.
    if (only === undefined) await page.getByText('Not connected since').waitFor()
    await main.getByText('unreachable').first().waitFor()
    return
  }
  await main.getByText(brokenMessage).first().waitFor()
  await main.getByText(codes[fault]).first().waitFor()
  await main
    .getByRole('button', { name: /^Try (?:again|now)$/ })
    .first()
    .waitFor()
  if (fault === 429 || fault === 503)
    await main
      .getByText(/(?:again|trying) in \d/)
      .first()
      .waitFor()
}

/** The service answers again: what tries by itself is waited for, all else is asked to. */
async function comeBack(page: Page, fault: Fault, broken: BrokenCalls): Promise<void> {
  await broken.heal()
  const tryAgain = page.locator('#main').getByRole('button', { name: 'Try again' })
  const triesItself = fault === 429 || fault === 503 || fault === 'cut off'
  await expect
    .poll(
      async () => {
        if (!triesItself) {
          await tryAgain.evaluateAll((all) => {
            for (const button of all) if (button instanceof HTMLElement) button.click()
          })
        }
        // A button that was pressed is gone as soon as there is an answer.
        return await tryAgain
          .first()
          .waitFor({ state: 'detached', timeout: 2_000 })
          .then(
            () => 0,
            () => 1,
          )
      },
      { timeout: 15_000 },
    )
    .toBe(0)
}

/** Signs in over the page, with the secret of the key that was signed in before. */
export async function signInOver(page: Page, secret: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Your session is over' })
  await dialog.getByLabel('Secret').fill(secret)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'detached' })
}

export interface Broken {
  readonly fault: Fault
  /** The one call that is broken; undefined: all of the page are. */
  readonly only?: string
  /** Whether the page is to be there without it, and need not tell. */
  readonly isLesser?: boolean
  /** The secret of the key that has signed in. */
  readonly secret: string
}

/** What is wrong with how a page that is opened anew takes a fault of its calls, or of one of them. */
export async function wrongWith(
  page: Page,
  { name, path }: ShownPage,
  { fault, only, isLesser = false, secret }: Broken,
): Promise<readonly string[]> {
  const what = `${name}, ${only ?? 'all calls'}, ${fault}`
  await using broken = await BrokenCalls.begin(page, fault, only)
  try {
    await page.goto(path)
    if (isLesser && fault !== 401) await arrived(page)
    else await tellsOf(page, fault, only)
    const empty = await emptinessOn(page)
    if (fault === 401) {
      await broken.heal()
      await signInOver(page, secret)
    } else await comeBack(page, fault, broken)
    await arrived(page)
    return empty.map((html) => `${what}: looks empty: ${html}`)
  } catch (error) {
    return [`${what}: ${String(error).slice(0, 300)}`]
  }
}

/** Pages that show nothing before an answer, one of each kind: records of the same kind fail as one does. */
export function pagesThatAsk(pages: readonly ShownPage[]): readonly ShownPage[] {
  return pages.filter(({ name }) => !/^new|^record (?!alert$|inbox$|source$)/.test(name))
}
