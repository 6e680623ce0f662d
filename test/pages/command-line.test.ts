import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/command-line.md'

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined

  beforeAll(async () => {
    const receiver = `127.0.0.1:${await freePort()}`
    reader = await PageRun.start(page, { STREAMVAULT_EGRESS_ALLOW: receiver })
    // The reader is in the folder of the service, and its receiver has a port of its own here.
    await reader.shell.run(`RECEIVER=${receiver}\nln -s ${resolve('examples')} examples`)
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await reader?.run(block),
  )
})
