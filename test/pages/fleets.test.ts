import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/fleets.md'

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined

  beforeAll(async () => {
    reader = await PageRun.start(page)
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    // What is said to print nothing must not.
    async (_, block) => await reader?.run({ ...block, output: block.output ?? '' }),
  )

  test('leave streams without a fleet', async () => {
    const shown = await reader?.shell.run('get "/streams?limit=100" | jq -c "map(.fleetId)"')
    expect(shown?.trim()).toBe('[null,null]')
  })
})
