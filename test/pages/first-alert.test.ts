import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/first-alert.md'

/** In CI it has to be there. */
const isGoMissing = spawnSync('go', ['version']).error !== undefined && !process.env['CI']

describe.skipIf(isPageSkipped(page) || isGoMissing)(`the commands of ${page}`, () => {
  let reader: PageRun | undefined

  beforeAll(async () => {
    // What has failed is attempted again by the page alone, and not by the service in between.
    reader = await PageRun.start(page, { STREAMVAULT_RESEND_EVERY: '1d' })
    await reader.shell.run(
      `RECEIVER_PORT=${await freePort()}; ln -s ${resolve('examples')} examples`,
    )
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    // What is said to print nothing must not.
    async (_, block) => await reader?.run({ ...block, output: block.output ?? '' }),
  )
})
