import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PageBlock, pageBlocks } from '../support/page-blocks.ts'
import {
  freePort,
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../support/service-process.ts'
import { ShellSession } from '../support/shell-session.ts'

const page = 'docs/connect-a-device.md'

/** Where scripts/install-test-tools puts packages of Python. */
const pythonPackages = join(homedir(), '.cache', 'streamvault-test-tools', 'python')
const pythonPath = [pythonPackages, process.env['PYTHONPATH']].filter(Boolean).join(delimiter)

const missing = [
  ...['bash', 'curl', 'jq', 'openssl', 'mosquitto_pub', 'mosquitto_sub'].filter(
    (tool) => spawnSync(tool, ['--help']).error !== undefined,
  ),
  ...(spawnSync('python3', ['-c', 'import paho.mqtt.client'], {
    env: { ...process.env, PYTHONPATH: pythonPath },
  }).status === 0
    ? []
    : ['paho-mqtt for Python']),
]
const advice = `The commands of ${page} need ${missing.join(', ')}: run scripts/install-test-tools`
/** In CI a missing tool is a failure; a person is told what to install. */
const isSkipped = missing.length > 0 && !process.env['CI']
if (isSkipped) process.stderr.write(`They are not run. ${advice}\n`)

describe.skipIf(isSkipped)(`the commands of ${page}`, () => {
  let folder: string
  let service: ServiceProcess
  let shell: ShellSession
  let heard: (() => Promise<string>) | undefined
  let expectedToBeHeard: string | undefined

  beforeAll(async () => {
    if (missing.length > 0) throw new Error(advice)
    folder = mkdtempSync(join(tmpdir(), 'streamvault-page-'))
    // What `npm install mqtt` would bring.
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    service = await startServiceProcess(newDataDir(), generatedKey)
    shell = new ShellSession(folder, {
      PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
      PYTHONPATH: pythonPath,
      API: service.http,
      PORT: String(service.mqttPort),
      ADMIN: join(service.dataDir, 'admin.json'),
    })
  })

  afterAll(async () => {
    await shell?.end()
    await service?.end('SIGTERM')
    if (service) rmSync(service.dataDir, { recursive: true })
    if (folder) rmSync(folder, { recursive: true })
  })

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

  async function run({ language, label, text, output }: PageBlock): Promise<void> {
    if (language !== 'sh') {
      writeFileSync(join(folder, label), text)
    } else if (label === 'listen') {
      heard = await shell.listen(text)
      expectedToBeHeard = output
    } else if (label === 'restart') {
      await restart(text)
    } else {
      const printed = await shell.run(text)
      if (output !== undefined) expect(withEnd(printed)).toBe(output)
      // The other terminal has been waiting for this one.
      if (heard !== undefined) expect(await heard()).toBe(expectedToBeHeard)
      heard = undefined
    }
  }

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, block) => await run(block),
  )

  test('bring in all their readings, and those that came twice once', async () => {
    const command = 'curl -s --cacert server.crt $SECURE_API/streams/$STREAM/status -H "$OWNER"'
    const counters = async () =>
      (JSON.parse(await shell.run(command)) as { readonly counters: object }).counters

    // The last ones are on their way to the store.
    await expect.poll(counters, { timeout: 10_000 }).toMatchObject({
      received: 10,
      stored: 6,
      duplicates: 3,
      quarantined: 1,
    })
  })
})

/** The first start makes a key, as the page says. */
const generatedKey = { STREAMVAULT_ADMIN_KEY: '', STREAMVAULT_ADMIN_SECRET: '' }

/** Not everything that prints ends its line. */
function withEnd(printed: string): string {
  return printed === '' || printed.endsWith('\n') ? printed : `${printed}\n`
}
