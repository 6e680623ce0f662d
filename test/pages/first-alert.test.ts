import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/first-alert.md'

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
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

  test('stand beside the remedy that a refused registration has', async () => {
    const [, shown = ''] = /^> (.*)$/m.exec(readFileSync(page, 'utf8')) ?? []
    const body = { url: 'http://127.0.0.1:81/alerts', events: ['stream.alert_triggered'] }
    const refused = await reader?.shell.run(
      `send POST /webhooks '${JSON.stringify(body)}' | jq -r '.error, .remedy'`,
    )
    expect(refused).toBe(`destination_not_allowed\n${shown.replace(':8090', ':81')}\n`)
  })
})
