import { globSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FreshClone } from '../support/fresh-clone.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'README.md'

/** A screen of an editor on a laptop. */
const screenLines = 50

describe.skipIf(isPageSkipped(page))(`the first reading of ${page}`, () => {
  let clone: FreshClone | undefined
  let reader: PageRun | undefined

  beforeAll(async () => {
    clone = new FreshClone()
    clone.install()
    reader = await PageRun.inClone({ page, settings: {}, addresses: [], ports: [] }, clone)
  })

  afterAll(async () => {
    await reader?.end()
    clone?.[Symbol.dispose]()
  })

  test('is stored, and read back', async () => {
    const [, ...blocks] = pageBlocks(page)
    expect(blocks).toHaveLength(2)
    for (const block of blocks) await reader?.run(block)
  })
})

test(`${page} fits on three screens`, () => {
  expect(readFileSync(page, 'utf8').split('\n').length).toBeLessThanOrEqual(3 * screenLines)
})

test('the index has every page of docs', () => {
  const index = readFileSync('docs/README.md', 'utf8')
  const pages = globSync('docs/{,integrations/,recipes/README}*.md')
    .map((path) => relative('docs', path))
    .filter((path) => path !== 'README.md')
  expect(pages.filter((path) => !index.includes(`(${path})`))).toEqual([])
})
