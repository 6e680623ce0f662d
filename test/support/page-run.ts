import { equal } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../scripts/servers/free-port.ts'
import { type FreshClone, pathOfOthers } from './fresh-clone.ts'
import type { PageBlock } from './page-blocks.ts'
import {
  launchServiceProcess,
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

/** Finds packages without loading them, which takes a second. */
const findPackages = `from importlib.util import find_spec
for name in 'paho', 'requests', 'pandas', 'duckdb': assert find_spec(name), name`

const programs = ['bash', 'curl', 'jq', 'openssl', 'mosquitto_pub', 'mosquitto_sub']

/** How long a reader looks for what the page shows. */
const patienceMs = 60_000

/** What the commands of pages need and this machine lacks. */
function missingTools(): readonly string[] {
  const missing = programs.filter((tool) => spawnSync(tool, ['--help']).error !== undefined)
  const env = { ...process.env, PYTHONPATH: pythonPath }
  const { status } = spawnSync('python3', ['-c', findPackages], { env })
  return status === 0 ? missing : [...missing, 'paho-mqtt, requests, pandas and duckdb for Python']
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

type Environment = Readonly<Record<string, string>>

interface Place {
  readonly folder: string
  /** Settings of the service, which it is started with again. */
  readonly settings: Environment
}

interface PageInClone {
  readonly page: string
  readonly settings: Environment
  /** Variables of the page that name an address or a port of this machine: others may use its own. */
  readonly addresses: readonly string[]
  readonly ports: readonly string[]
}

/** A reader who does what a page says, in a folder of their own, with a service of their own. */
export class PageRun {
  readonly shell: ShellSession
  /** Where the service answers. */
  get address(): string {
    return this.#service.http
  }
  readonly #place: Place
  #service: ServiceProcess
  #heard: (() => Promise<string>) | undefined
  #expectedToBeHeard: string | undefined
  /** What runs in another terminal has to have printed some time after the next command. */
  #background: { readonly printed: () => string; readonly shown: string } | undefined

  private constructor(place: Place, service: ServiceProcess, environment: Environment) {
    this.#place = place
    this.#service = service
    this.shell = new ShellSession(place.folder, {
      PYTHONPATH: pythonPath,
      API: service.http,
      PORT: String(service.mqttPort),
      ...environment,
    })
  }

  /** @throws Error when a tool is missing that the commands of the page need */
  static async start(page: string, more: Environment = {}): Promise<PageRun> {
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
    const service = await startServiceProcess(newDataDir(), settings)
    return new PageRun({ folder, settings }, service, {
      PATH: [join(folder, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
      ADMIN: join(service.dataDir, 'admin.json'),
      STREAMVAULT_DATA_DIR: service.dataDir,
    })
  }

  /**
   * A reader in a clone of the project, with what `npm ci` leaves there and nothing of ours: `npm start` makes `data/`,
   * and npx is the one of the machine.
   *
   * @throws Error when a tool is missing that the commands of the page need
   */
  static async inClone(
    { page, settings: more, addresses, ports }: PageInClone,
    clone: FreshClone,
  ): Promise<PageRun> {
    if (missing.length > 0) throw new Error(adviceFor(page))
    const folder = clone.root
    const settings = { ...generatedKey, ...(await publicAddress()), ...more }
    const launched = await launchServiceProcess(join(folder, 'data'), settings, folder)
    const environment: Record<string, string> = { PATH: pathOfOthers() }
    for (const name of addresses) environment[name] = `127.0.0.1:${await freePort()}`
    for (const name of ports) environment[name] = String(await freePort())
    return new PageRun({ folder, settings }, await launched.listening(), environment)
  }

  /** Does what a block says, and compares what it prints with what the page says. */
  async run({ language, label, text, output }: PageBlock): Promise<void> {
    if (language !== 'sh') {
      writeFileSync(join(this.#place.folder, label), text)
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
    } else if (label === 'soon' && output !== undefined) {
      await this.#runUntil(text, output)
    } else {
      if (label === 'stop') await this.#service.end('SIGTERM')
      const printed = await this.shell.run(text)
      if (output !== undefined) expectShown(printed, output)
      // The other terminal has been waiting for this one.
      if (this.#heard !== undefined) equal(await this.#heard(), this.#expectedToBeHeard)
      this.#heard = undefined
      await this.#awaitBackground()
    }
  }

  /** What reads may be a moment too early: a reader looks again. */
  async #runUntil(text: string, shown: string): Promise<void> {
    await untilShown(async () => await this.shell.run(text), shown)
  }

  async #awaitBackground(): Promise<void> {
    const { printed, shown } = this.#background ?? {}
    this.#background = undefined
    if (printed === undefined || shown === undefined) return
    await untilShown(printed, shown)
  }

  async end(): Promise<void> {
    await this.shell.end()
    await this.#service.end('SIGTERM')
    rmSync(this.#service.dataDir, { recursive: true, force: true })
    rmSync(this.#place.folder, { recursive: true, force: true })
  }

  /** Starts the service again at the same addresses, with the settings of the terminal and of the command itself. */
  async #startAgain(command: string): Promise<void> {
    await this.#service.end('SIGTERM')
    const printed = await this.shell.run(command.replace(/npm start\s*$/, 'env'))
    const exported = printed.matchAll(/^(STREAMVAULT_\w+)=(.*)$/gm)
    this.#service = await startServiceProcess(this.#service.dataDir, {
      ...this.#place.settings,
      STREAMVAULT_MQTT_PORT: String(this.#service.mqttPort),
      ...Object.fromEntries([...exported].map(([, name = '', value = '']) => [name, value])),
    })
  }

  /** Starts the service again with the settings of a command, whose files are in the folder. */
  async #restart(command: string): Promise<void> {
    const securePort = await freePort()
    const settings = [...command.matchAll(/(STREAMVAULT_\w+)=(\S+)/g)].map(
      ([, name = '', file = '']) => [name, join(this.#place.folder, file)] as const,
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
  equal(withoutVolatile(withEnd(printed)), withoutVolatile(shown))
}

/** Looks again until what is printed is what the page shows. @throws AssertionError when it is not, after a minute */
async function untilShown(look: () => Promise<string> | string, shown: string): Promise<void> {
  const deadlineMs = performance.now() + patienceMs
  for (;;) {
    const printed = await look()
    const isLast = performance.now() > deadlineMs
    if (isLast || withoutVolatile(withEnd(printed)) === withoutVolatile(shown)) {
      expectShown(printed, shown)
      return
    }
    await sleep(50)
  }
}

/** Not everything that prints ends its line. */
function withEnd(printed: string): string {
  return printed === '' || printed.endsWith('\n') ? printed : `${printed}\n`
}
