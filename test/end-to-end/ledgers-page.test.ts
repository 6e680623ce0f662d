import { afterAll, beforeAll, describe, test } from 'vitest'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/ledgers.md'

describe.skipIf(isPageSkipped(page) || areNodesMissing)(`the commands of ${page}`, () => {
  let node: Anvil | undefined
  let reader: PageRun | undefined

  beforeAll(async () => {
    node = await Anvil.start('--block-time', '1')
    reader = await PageRun.start(page, { STREAMVAULT_ANCHORING: 'on' })
    await reader.shell.run(`NODE=${node.endpoint}`)
  })

  afterAll(async () => {
    await reader?.end()
    await node?.[Symbol.asyncDispose]()
  })

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await reader?.run({ ...block, output: block.output ?? '' }),
  )
})
