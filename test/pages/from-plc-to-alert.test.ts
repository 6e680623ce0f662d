import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { BacnetDevice, tags } from '../support/bacnet-device.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'

const page = 'docs/from-plc-to-alert.md'

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined
  let airHandler: BacnetDevice | undefined

  beforeAll(async () => {
    airHandler = await BacnetDevice.start()
    reader = await PageRun.start(page)
    // The folder of the clone has it, and other tests may use the port of the page.
    await reader.shell.run(
      `ln -s ${resolve('examples')} examples
       export PLC=127.0.0.1:${await freePort()} AHU=127.0.0.1:${airHandler.port}`,
    )
  })

  afterAll(async () => {
    await reader?.end()
    await airHandler?.stop()
  })

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await reader?.run(block),
  )

  test('describe a device of BACnet as it is', async () => {
    airHandler?.set('0:1:85', tags.REAL, 21.3)
    airHandler?.set('0:1:103', tags.ENUMERATED, 0)
    airHandler?.set('5:12:85', tags.ENUMERATED, 1)
    await reader?.run(blockOf('stop', 'export STREAMVAULT_EGRESS_ALLOW=$AHU'))
    await reader?.run(blockOf('start', 'npm start'))

    const checked = await reader?.shell.run(
      `jq 'del(.processing)' ahu.json | call /sources/check -d @-
       jq --arg vault $VAULT '. + {name: "air handler", vaultId: $vault}' ahu.json |
         call /streams -d @- | jq -c '[.status, .error]'`,
    )

    expect(checked).toContain('{\\"supply\\":21.3,\\"supply_fault\\":0,\\"fan\\":true}')
    expect(checked).toContain('"problems":[]')
    expect(checked).toContain('["created",null]')
  })
})

function blockOf(label: string, text: string) {
  return { line: 0, language: 'sh', label, text, output: undefined }
}
