import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../scripts/servers/free-port.ts'
import { type FolderOwner, readOwner } from '../../src/config/folder-owner.ts'
import { adminKey, adminSecret } from './service-process.ts'

const startMsMax = 120_000

/** A service that a command line has started, as a person or a supervisor would: it may be any process of several. */
export class CommandedService {
  readonly dataDir: string
  /** Settings that it was started with: a next start has the same addresses. */
  readonly settings: Readonly<Record<string, string>>
  readonly #child: ChildProcess
  readonly #exited: Promise<number | null>
  #printed = ''

  /** Runs it with bash, in a process group of its own. */
  static async start(
    command: string,
    dataDir: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<CommandedService> {
    const settings = {
      STREAMVAULT_DATA_DIR: dataDir,
      STREAMVAULT_HTTP_PORT: String(await freePort()),
      STREAMVAULT_MQTT_PORT: String(await freePort()),
      STREAMVAULT_ADMIN_KEY: adminKey,
      STREAMVAULT_ADMIN_SECRET: adminSecret,
      ...environment,
    }
    return new CommandedService(command, settings, dataDir)
  }

  private constructor(
    command: string,
    settings: Readonly<Record<string, string>>,
    dataDir: string,
  ) {
    this.dataDir = dataDir
    this.settings = settings
    // Nothing of what the tests themselves were started with, which a person's shell would not have.
    const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_)/i.test(name))
    const env = { ...Object.fromEntries(inherited), ...settings }
    this.#child = spawn('bash', ['-c', command], {
      env,
      detached: true,
      stdio: 'pipe',
    })
    this.#child.stdout?.on('data', (chunk: Buffer) => (this.#printed += chunk.toString()))
    this.#child.stderr?.on('data', (chunk: Buffer) => (this.#printed += chunk.toString()))
    this.#exited = once(this.#child, 'exit').then(([code]) => code as number | null)
  }

  get output(): string {
    return this.#printed
  }

  /** The exit code of the command, once it has ended. */
  get exited(): Promise<number | null> {
    return this.#exited
  }

  /** Process id of the command: of the shell, unless it has become what it runs. */
  get pid(): number {
    return this.#child.pid as number
  }

  /**
   * Resolves when a service listens that is not `other`, with what it says of itself.
   *
   * @throws Error when the command has ended before
   */
  async listening(other?: number): Promise<ServiceOwner> {
    const deadlineMs = performance.now() + startMsMax
    for (;;) {
      const owner = readOwner(this.dataDir)
      const [http, mqtt] = owner?.addresses ?? []
      if (owner && owner.pid !== other && http) return { ...owner, http, mqtt: mqtt ?? '' }
      if (this.#hasEnded || performance.now() > deadlineMs) {
        throw new Error(`the service does not start: ${this.#printed}`)
      }
      await sleep(50)
    }
  }

  /** Sends a signal to the command alone, as `kill PID` does. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal)
  }

  /** On its standard input, which is that of a terminal where it has one. */
  type(text: string): void {
    this.#child.stdin?.write(text)
  }

  /** Ends whatever is left of it. */
  async kill(): Promise<void> {
    try {
      process.kill(-this.pid, 'SIGKILL')
    } catch {
      // There is nobody left.
    }
    await this.#exited
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }
}

interface ServiceOwner extends FolderOwner {
  readonly http: string
  readonly mqtt: string
}
