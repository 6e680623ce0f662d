import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/evidence.md'

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined

  beforeAll(async () => {
    reader = await PageRun.start(page, { STREAMVAULT_ANCHORING: 'on' })
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await reader?.run(block),
  )

  test('lead to the steps of docs/verify.md from the CID on', async () => {
    await reader?.shell.run('cid=$(jq -r .cid proof.json)')
    const steps = pageBlocks('docs/verify.md').slice(2, 5)
    expect(steps.map(({ output = '' }) => output.split('\n')[0])).toEqual([
      'the transaction is the one that is named',
      'the block has the transaction',
      'Signature Verified Successfully',
    ])
    for (const step of steps) await reader?.run(step)
  })
})
