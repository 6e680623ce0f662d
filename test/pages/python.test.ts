import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/python.md'

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

  test('bring in all their readings', async () => {
    const status = `python3 -c "from service import ask; print(ask('GET', '/streams/$STREAM/status').text)"`
    const counters = async () =>
      (JSON.parse((await reader?.shell.run(status)) ?? '') as { readonly counters: object })
        .counters

    // The last ones are on their way to the store.
    await expect.poll(counters).toMatchObject({ received: 291, stored: 290, quarantined: 1 })
  })
})
