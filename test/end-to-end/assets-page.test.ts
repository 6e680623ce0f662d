import { afterAll, beforeAll, describe, test } from 'vitest'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/assets.md'

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined

  beforeAll(async () => {
    reader = await PageRun.start(page, { STREAMVAULT_ANCHORING: 'on' })
    // What the page goes on from.
    const [settings, stream] = pageBlocks('docs/connect-a-device.md')
    await reader.shell.run(`${settings?.text}\n${stream?.text}`)
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await reader?.run({ ...block, output: block.output ?? '' }),
  )
})
