import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type MetricFamily,
  metricFamilies,
  settingsForAllMetrics,
  withMetricTables,
} from '../../scripts/metrics-page.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'
import { runningService } from '../support/running-service.ts'

const page = 'docs/metrics.md'
const service = runningService(settingsForAllMetrics)
let families: readonly MetricFamily[]

beforeAll(async () => {
  families = metricFamilies(await (await fetch(`${service.process.http}/metrics`)).text())
})

/** A text may speak of all metrics that begin alike: `streamvault_ledger_`. */
function isBeginning(name: string): boolean {
  return families.some((family) => family.name.startsWith(`${name}_`))
}

describe(`the tables of ${page}`, () => {
  test('have each metric of a running service, and no other: `npm run docs` writes them', () => {
    const text = readFileSync(page, 'utf8')
    expect(withMetricTables(text, families)).toBe(text)
  })

  const family = { name: 'streamvault_queue_bytes', type: 'gauge', help: 'Bytes.', labels: ['at'] }

  test('change with the metrics', () => {
    const text = 'x\n<!-- metrics: queue_ -->\nold\n<!-- end -->\ny\n'
    expect(withMetricTables(text, [family])).toContain(
      '| `streamvault_queue_bytes` | gauge | bytes | `at` | Bytes |\n<!-- end -->\ny',
    )
  })

  test('miss no metric that belongs to no mark, and no mark without a metric', () => {
    const text = '<!-- metrics: other_ -->\n<!-- end -->\n'
    expect(() => withMetricTables(text, [family])).toThrow('queue_bytes belongs to no mark')
    expect(() => withMetricTables(text, [])).toThrow('no metric belongs to the mark other_')
  })
})

describe('names of metrics', () => {
  const pages = globSync([
    '*.{md,yml}',
    '{docs,bench,clients}/**/*.md',
    '{examples,packaging}/**/*.{yml,yaml,json,md,conf,js}',
  ])

  test.each(pages.filter((file) => readFileSync(file, 'utf8').includes('streamvault_')))(
    'in %s are those of a running service',
    (file) => {
      const known = new Set(families.map(({ name }) => name))
      const named = readFileSync(file, 'utf8').match(/(?<![\w/.-])streamvault_[a-z0-9_]*[a-z0-9]/g)
      const unknown = (named ?? []).filter(
        (name) => !known.has(name.replace(/_(bucket|sum|count)$/, '')) && !isBeginning(name),
      )
      expect(unknown).toEqual([])
    },
  )
})

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
