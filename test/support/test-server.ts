import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { freePort } from '../../scripts/servers/free-port.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** What ends a server in good order, and what ends it as a crash does. */
interface EndingSignals {
  readonly stop: NodeJS.Signals
  readonly kill: NodeJS.Signals
}

/** A server of one test file, on this machine. */
export abstract class TestServer implements AsyncDisposable {
  protected readonly folder = new TemporaryFolder()
  /** Given with the first start, and kept. */
  #port: number | undefined
  readonly #signals: EndingSignals
  #child: ChildProcess | undefined

  constructor(signals: EndingSignals = { stop: 'SIGTERM', kill: 'SIGKILL' }) {
    this.#signals = signals
    // A test run that is cut off leaves no server behind.
    process.once('exit', () => this.#child?.kill(signals.kill))
  }

  /** Starts the program in its folder, at its port, and resolves when it answers. */
  protected abstract launch(folder: string, port: number): Promise<ChildProcess>

  get port(): number {
    if (this.#port === undefined) throw new Error('the server was never started')
    return this.#port
  }

  /** Begins to answer, with all that it has stored, where it does not yet. */
  async start(): Promise<void> {
    if (this.#isAlive()) return
    this.#port ??= await freePort()
    this.#child = await this.launch(this.folder.path, this.#port)
  }

  /** Ends it in good order, whoever is connected. */
  async stop(): Promise<void> {
    await this.#end(this.#signals.stop)
  }

  /** Ends it as a crash does: it finds out at its next start what it had stored. */
  async kill(): Promise<void> {
    await this.#end(this.#signals.kill)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    this.folder[Symbol.dispose]()
  }

  #isAlive(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (!child || !this.#isAlive()) return
    child.kill(signal)
    await once(child, 'exit')
  }
}

/**
 * Whether tests with a server are to be left out, for `describe.skipIf`, because the machine does not have it. In CI
 * that is an error of each test instead, and elsewhere it is said once.
 *
 * @param whence what brings it to the machine
 */
export function isLeftOut(name: string, isThere: boolean, whence: string): boolean {
  if (isThere || process.env['CI'] !== undefined) return false
  console.warn(`skipped: tests with ${name}, which \`${whence}\` brings`)
  return true
}
