import type { Page } from 'playwright-core'

/** Elements that a page of ours never has: they have come from a name. */
export async function unwantedMarkup(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() =>
    [
      ...document.querySelectorAll(
        'img, iframe, object, embed, b, script:not([src]), a[href^="javascript"]',
      ),
    ].map((element) => element.outerHTML),
  )
}

/** How many pixels a page is wider than what shows it. */
export async function sidewaysPixels(page: Page): Promise<number> {
  return await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  )
}
