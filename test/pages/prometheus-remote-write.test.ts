import { afterAll, beforeAll, describe, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { toolsFolder } from '../../scripts/servers/questdb-jar.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'
import { isPrometheusMissing } from '../support/prometheus.ts'

const page = 'docs/integrations/prometheus-remote-write.md'

describe.skipIf(isPrometheusMissing || isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined

  beforeAll(async () => {
    reader = await PageRun.start(page)
    await reader.shell.run(`PATH=${toolsFolder}/bin:$PATH PROMETHEUS_PORT=${await freePort()}`)
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await reader?.run(block),
  )
})
