import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PageBlock, pageBlocks } from '../support/page-blocks.ts'
import {
  freePort,
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../support/service-process.ts'
import { ShellSession } from '../support/shell-session.ts'

const page = 'docs/devices.md'

const missing = ['bash', 'curl', 'jq', 'openssl', 'mosquitto_pub', 'mosquitto_sub'].filter(
  (tool) => spawnSync(tool, ['--help']).error !== undefined,
)
const advice = `The commands of ${page} need ${missing.join(', ')}: run scripts/install-test-tools`
/** In CI a missing tool is a failure; a person is told what to install. */
const isSkipped = missing.length > 0 && !process.env['CI']
if (isSkipped) process.stderr.write(`They are not run. ${advice}\n`)

/** The first start makes a key, as the page before says. */
const generatedKey = { STREAMVAULT_ADMIN_KEY: '', STREAMVAULT_ADMIN_SECRET: '' }

describe.skipIf(isSkipped)(`the commands of ${page}`, () => {
  let folder: string
  let service: ServiceProcess
  let shell: ShellSession

  beforeAll(async () => {
    if (missing.length > 0) throw new Error(advice)
    folder = mkdtempSync(join(tmpdir(), 'streamvault-page-'))
    service = await startServiceProcess(newDataDir(), generatedKey)
    shell = new ShellSession(folder, {
      API: service.http,
      PORT: String(service.mqttPort),
      ADMIN: join(service.dataDir, 'admin.json'),
    })
    // What the page goes on from.
    const [settings, stream] = pageBlocks('docs/connect-a-device.md')
    await shell.run(`${settings?.text}\n${stream?.text}`)
  })

  afterAll(async () => {
    await shell?.end()
    await service?.end('SIGTERM')
    if (service) rmSync(service.dataDir, { recursive: true })
    if (folder) rmSync(folder, { recursive: true })
  })

  /** Starts the service again with the settings of a command, whose files are in the folder. */
  async function restart(command: string): Promise<void> {
    const securePort = await freePort()
    const settings = [...command.matchAll(/(STREAMVAULT_\w+)=(\S+)/g)].map(
      ([, name = '', file = '']) => [name, join(folder, file)] as const,
    )
    await service.end('SIGTERM')
    service = await startServiceProcess(service.dataDir, {
      ...generatedKey,
      ...Object.fromEntries(settings),
      STREAMVAULT_MQTT_PORT: String(service.mqttPort),
      STREAMVAULT_MQTTS_PORT: String(securePort),
    })
    await shell.run(`SECURE_PORT=${securePort} SECURE_API=${service.http}`)
  }

  async function run({ label, text, output }: PageBlock): Promise<void> {
    if (label === 'restart') {
      await restart(text)
      return
    }
    const printed = await shell.run(text)
    expect(printed).toBe(output ?? '')
  }

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await run(block),
  )
})
