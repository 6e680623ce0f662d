import { basename } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { BrowserPages, type SignInKey, type Stranger } from './browser-pages.ts'
import { buildConsole } from './built-console.ts'
import { adminPair, signIn } from './signing-in.ts'

/** Somebody who has signed in before. */
export interface Visitor extends Stranger {
  /** The bootstrap key where nothing is said. */
  readonly key?: SignInKey
}

export interface BrowserTests {
  /** Opens a path of a service, for somebody who is not signed in. */
  readonly open: (origin: string, path: string, visitor?: Stranger) => Promise<Page>
  /** Opens it for somebody with a session. */
  readonly signedIn: (origin: string, path: string, visitor?: Visitor) => Promise<Page>
}

/**
 * A browser for the tests of one file. What a test opens is closed after it; the test fails when a page has had an
 * error, has violated its policy, has asked another origin, or keeps something. What failed is to be seen in
 * `test-failures`.
 */
export function browserTests(): BrowserTests {
  let started: BrowserPages | undefined

  const pages = () => {
    if (!started) throw new Error('the browser does not run yet')
    return started
  }

  beforeAll(async () => {
    buildConsole()
    started = await BrowserPages.launch()
  })

  afterEach(async ({ task }) => {
    const faults = await pages().faults()
    if (task.result?.state === 'fail' || faults.length > 0) {
      const name = `${basename(task.file.name, '.test.ts')} ${task.name}`
      console.log((await pages().keepScreenshots(name)).join('\n'))
    }
    await pages().closePages()
    expect(faults).toEqual([])
  })

  afterAll(async () => {
    await started?.end()
  })

  return {
    async open(origin, path, visitor) {
      const page = await pages().newPage(origin, visitor)
      await page.goto(path)
      return page
    },
    async signedIn(origin, path, { key = adminPair, ...visitor } = {}) {
      const page = await pages().newPage(origin, visitor)
      await signIn(page, origin, key)
      await page.goto(path)
      return page
    },
  }
}
