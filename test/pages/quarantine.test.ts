import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusalCatalogue } from '../../src/core/refusal-catalogue.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/quarantine.md'

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined

  beforeAll(async () => {
    reader = await PageRun.start(page)
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await reader?.run(block),
  )
})

describe(page, () => {
  const text = readFileSync(page, 'utf8')

  test('lists every reason in the order of errors.md', () => {
    const rows = text.slice(text.indexOf('## Reasons')).matchAll(/^\| `(\w+)` \|/gm)

    expect([...rows].map(([, reason]) => reason)).toEqual(Object.keys(refusalCatalogue))
  })

  test('shows counters that add up, before and after', () => {
    const counters = text.match(/\{\s*"received":[^}]+\}/g) ?? []

    expect(counters).toHaveLength(3)
    for (const shown of counters) {
      const { received, ...others } = JSON.parse(shown) as Readonly<Record<string, number>>
      expect(Object.values(others).reduce((sum, count) => sum + count)).toBe(received)
    }
  })
})
