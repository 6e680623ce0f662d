import { source } from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe is asked for: the rules of WCAG 2.2 AA, and what its makers think good besides. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

interface Axe {
  readonly run: (
    within: object,
    options: object,
  ) => Promise<{
    readonly violations: readonly {
      readonly id: string
      readonly help: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
    }[]
  }>
}

/** What hinders people with impairments on a page as it is now, one line for each place. */
export async function hindrancesOn(page: Page): Promise<readonly string[]> {
  return await judged(page, { type: 'tag', values: tags })
}

/** In both themes: the other one has other colours, and nothing else. */
export async function hindrancesInBothThemes(page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await hindrancesOn(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await judged(page, { type: 'rule', values: ['color-contrast'] })
  return [...light, ...dark.map((line) => `dark: ${line}`)]
}

async function judged(page: Page, runOnly: object): Promise<readonly string[]> {
  // Evaluated by the debugger: its script tag would violate the policy of the page.
  await page.evaluate(source)
  return await page.evaluate(async (only) => {
    const { axe } = globalThis as unknown as { readonly axe: Axe }
    const options = { runOnly: only, resultTypes: ['violations'] }
    const { violations } = await axe.run(document, options)
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}: ${html} ${failureSummary}`),
    )
  }, runOnly)
}
