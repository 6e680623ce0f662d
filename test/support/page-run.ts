import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { expect } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import type { PageBlock } from './page-blocks.ts'
import {
  newDataDir,
  publicAddress,
  type ServiceProcess,
  startServiceProcess,
} from './service-process.ts'
import { ShellSession } from './shell-session.ts'
import { withoutVolatile } from './shown-output.ts'

/** Where scripts/install-test-tools puts packages of Python. */
const pythonPackages = join(homedir(), '.cache', 'streamvault-test-tools', 'python')
const pythonPath = [pythonPackages, process.env['PYTHONPATH']].filter(Boolean).join(delimiter)

/** The first start makes a key, as the pages say. */
const generatedKey = { STREAMVAULT_ADMIN_KEY: '', STREAMVAULT_ADMIN_SECRET: '' }

const programs = ['bash', 'curl', 'jq', 'openssl', 'mosquitto_pub', 'mosquitto_sub']

/** What the commands of pages need and this machine lacks. */
function missingTools(): readonly string[] {
  const missing = programs.filter((tool) => spawnSync(tool, ['--help']).error !== undefined)
  const env = { ...process.env, PYTHONPATH: pythonPath }
  const { status } = spawnSync('python3', ['-c', 'import paho.mqtt.client'], { env })
  return status === 0 ? missing : [...missing, 'paho-mqtt for Python']
}

const missing = missingTools()

function adviceFor(page: string): string {
  return `The commands of ${page} need ${missing.join(', ')}: run scripts/install-test-tools`
}

/** In CI a missing tool is a failure; a person is told what to install. */
export function isPageSkipped(page: string): boolean {
  const isSkipped = missing.length > 0 && !process.env['CI']
  if (isSkipped) process.stderr.write(`They are not run. ${adviceFor(page)}\n`)
  return isSkipped
}

/** A reader who does what a page says, in a folder of their own, with a service of their own. */
export class PageRun {
  readonly shell: ShellSession
  readonly #folder: string
  readonly #settings: Readonly<Record<string, string>>
  #service: ServiceProcess
  #heard: (() => Promise<string>) | undefined
  #expectedToBeHeard: string | undefined
  /** What runs in another terminal has to have printed some time after the next command. */
  #background: { readonly printed: () => string; readonly shown: string } | undefined

  private constructor(
    folder: string,
    service: ServiceProcess,
    settings: Readonly<Record<string, string>>,
  ) {
    this.#folder = folder
    this.#service = service
    this.#settings = settings
    this.shell = new ShellSession(folder, {
      PATH: [join(folder, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
      PYTHONPATH: pythonPath,
      API: service.http,
      PORT: String(service.mqttPort),
      ADMIN: join(service.dataDir, 'admin.json'),
      STREAMVAULT_DATA_DIR: service.dataDir,
    })
  }

  /** @throws Error when a tool is missing that the commands of the page need */
  static async start(page: string, more: Readonly<Record<string, string>> = {}): Promise<PageRun> {
    if (missing.length > 0) throw new Error(adviceFor(page))
    const folder = mkdtempSync(join(tmpdir(), 'streamvault-page-'))
    // What `npm install mqtt` would bring.
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    // What npx finds in the folder of the service.
    mkdirSync(join(folder, 'bin'))
    const command = `#!/bin/sh\nshift\nexec node ${resolve('bin/streamvault.js')} "$@"\n`
    writeFileSync(join(folder, 'bin', 'npx'), command, { mode: 0o755 })
    // Addresses that the service hands out have the port that it was told of.
    const settings = { ...generatedKey, ...(await publicAddress()), ...more }
    return new PageRun(folder, await startServiceProcess(newDataDir(), settings), settings)
  }

  /** Does what a block says, and compares what it prints with what the page says. */
  async run({ language, label, text, output }: PageBlock): Promise<void> {
    if (language !== 'sh') {
      writeFileSync(join(this.#folder, label), text)
    } else if (label === 'listen') {
      this.#heard = await this.shell.listen(text)
      this.#expectedToBeHeard = output
    } else if (label === 'background') {
      const printed = await this.shell.inBackground(text)
      this.#background = output === undefined ? undefined : { printed, shown: output }
    } else if (label === 'restart') {
      await this.#restart(text)
    } else if (label === 'start') {
      await this.#startAgain(text)
    } else {
      if (label === 'stop') await this.#service.end('SIGTERM')
      const printed = await this.shell.run(text)
      if (output !== undefined) expectShown(printed, output)
      // The other terminal has been waiting for this one.
      if (this.#heard !== undefined) expect(await this.#heard()).toBe(this.#expectedToBeHeard)
      this.#heard = undefined
      await this.#awaitBackground()
    }
  }

  async #awaitBackground(): Promise<void> {
    const { printed, shown } = this.#background ?? {}
    this.#background = undefined
    if (printed === undefined || shown === undefined) return
    await expect.poll(() => withoutVolatile(withEnd(printed()))).toBe(withoutVolatile(shown))
  }

  async end(): Promise<void> {
    await this.shell.end()
    await this.#service.end('SIGTERM')
    rmSync(this.#service.dataDir, { recursive: true })
    rmSync(this.#folder, { recursive: true })
  }

  /** Starts the service again at the same addresses, with the settings of the terminal and of the command itself. */
  async #startAgain(command: string): Promise<void> {
    await this.#service.end('SIGTERM')
    const printed = await this.shell.run(command.replace(/npm start\s*$/, 'env'))
    const exported = printed.matchAll(/^(STREAMVAULT_\w+)=(.*)$/gm)
    this.#service = await startServiceProcess(this.#service.dataDir, {
      ...this.#settings,
      STREAMVAULT_MQTT_PORT: String(this.#service.mqttPort),
      ...Object.fromEntries([...exported].map(([, name = '', value = '']) => [name, value])),
    })
  }

  /** Starts the service again with the settings of a command, whose files are in the folder. */
  async #restart(command: string): Promise<void> {
    const securePort = await freePort()
    const settings = [...command.matchAll(/(STREAMVAULT_\w+)=(\S+)/g)].map(
      ([, name = '', file = '']) => [name, join(this.#folder, file)] as const,
    )
    await this.#service.end('SIGTERM')
    this.#service = await startServiceProcess(this.#service.dataDir, {
      ...generatedKey,
      ...Object.fromEntries(settings),
      STREAMVAULT_MQTT_PORT: String(this.#service.mqttPort),
      STREAMVAULT_MQTTS_PORT: String(securePort),
    })
    await this.shell.run(`SECURE_PORT=${securePort} SECURE_API=${this.#service.http}`)
  }
}

/** Holds what a command has printed to what the page shows, but for values that no two runs have in common. */
function expectShown(printed: string, shown: string): void {
  expect(withoutVolatile(withEnd(printed))).toBe(withoutVolatile(shown))
}

/** Not everything that prints ends its line. */
function withEnd(printed: string): string {
  return printed === '' || printed.endsWith('\n') ? printed : `${printed}\n`
}
