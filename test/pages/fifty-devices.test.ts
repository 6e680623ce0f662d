import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/fifty-devices.md'

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

  test('leave one alert of each rule, and both of them over', async () => {
    const alerts = await reader?.shell.run('kill %1; get "/alerts?limit=100"')
    const names = 'get "/streams?limit=100" | jq "map({(.streamId): .name}) | add"'
    const nameOf = JSON.parse((await reader?.shell.run(names)) ?? '') as Record<string, string>
    const ended = (JSON.parse(alerts ?? '') as { streamId: string; state: string }[])
      .map(({ streamId, state }) => `${nameOf[streamId]}: ${state}`)
      .toSorted()
    expect(ended).toEqual(['meter 07: cleared', 'meter 17: cleared'])
  })
})
