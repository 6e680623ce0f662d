import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Waits until a page says what it is, and nothing on it is loading any more. */
export async function arrived(page: Page): Promise<void> {
  await page.locator('.shell #main h1').first().waitFor()
  await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0)
}

/** Opens a page as from a link that somebody has sent, and waits until all of it is there. */
export async function arriveAt(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await arrived(page)
}
