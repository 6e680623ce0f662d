import { createHmac } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { toolsFolder } from '../../scripts/servers/questdb-jar.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped, PageRun } from '../support/page-run.ts'
import { isLeftOut } from '../support/test-server.ts'

const page = 'docs/integrations/node-red.md'
const nodeRed = join(toolsFolder, 'node-red', 'node_modules', '.bin', 'node-red')
const isMissing = isLeftOut('Node-RED', existsSync(nodeRed), 'scripts/install-test-tools')

/** An event as the service sends it, with what the flow looks at. */
const alert = (eventId: string, value: number) => ({
  eventType: 'stream.alert_triggered',
  eventId,
  data: { streamName: 'boiler 8', ruleId: 'hot', severity: 'critical', state: 'firing', value },
})

describe.skipIf(isMissing || isPageSkipped(page))(`the commands of ${page}`, () => {
  let reader: PageRun | undefined
  let flow: string

  beforeAll(async () => {
    const port = await freePort()
    flow = `http://127.0.0.1:${port}`
    reader = await PageRun.start(page, { STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}` })
    await reader.shell.run(
      `ln -s ${resolve('examples')} examples\nln -s ${nodeRed} bin/node-red\nexport NODE_RED_PORT=${port}`,
    )
  })

  afterAll(async () => await reader?.end())

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await reader?.run(block),
  )

  /** Sends what the service would send, signed with a secret. */
  async function deliver(
    event: object,
    secret: string,
    header = 'x-service-signature',
  ): Promise<number> {
    const body = JSON.stringify(event)
    const signature = createHmac('sha256', secret).update(body).digest('hex')
    const headers = { 'content-type': 'application/json', [header]: signature }
    return (await fetch(`${flow}/streamvault`, { method: 'POST', headers, body })).status
  }

  async function lastAlert(): Promise<unknown> {
    return await (await fetch(`${flow}/last-alert`)).json()
  }

  test('make a flow that takes each signed event once, also with the next secret', async () => {
    const secret = (await reader?.shell.run('echo $WEBHOOK_SECRET'))?.trim() ?? ''
    expect(await deliver(alert('one', 1), secret)).toBe(204)
    expect(await lastAlert()).toMatchObject({ stream: 'boiler 8', value: 1 })
    expect(await deliver(alert('two', 2), secret, 'x-service-signature-next')).toBe(204)
    expect(await deliver(alert('one', 3), secret)).toBe(204)
    expect(await lastAlert()).toMatchObject({ value: 2 })
  })

  test('make a flow that refuses another secret', async () => {
    expect(await deliver(alert('three', 4), 'another secret')).toBe(401)
    expect(await lastAlert()).toMatchObject({ value: 2 })
  })
})
