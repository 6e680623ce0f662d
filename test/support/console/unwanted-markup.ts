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

/**
 * Texts that a name turns around, because it stands with them in what is no isolate: a mark of direction within it
 * holds up to the end of that.
 */
export async function turnedTexts(page: Page): Promise<readonly string[]> {
  return await page.evaluate(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const turned: string[] = []
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      const { parentElement: parent, textContent: content } = text
      // A list of choices draws each as a paragraph of its own, and what is edited shows its marks as signs.
      if (parent === null || !/[\u202a-\u202e]/.test(content ?? '')) continue
      if (parent.closest('option, script, .cm-editor') !== null) continue
      let within = parent
      while (/^(?:normal|embed)$/.test(getComputedStyle(within).unicodeBidi)) {
        if (within.parentElement === null) break
        within = within.parentElement
      }
      const after = document.createRange()
      after.setStartAfter(text)
      after.setEnd(within, within.childNodes.length)
      if (after.toString().trim() !== '') turned.push(within.outerHTML.slice(0, 300))
    }
    return turned
  })
}
