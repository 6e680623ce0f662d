import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../scripts/servers/free-port.ts'
import type { OpcUaServerOptions, SetOrder } from '../../scripts/servers/opcua-process.ts'
import type { OpcUaPeer } from './opcua-peer.ts'
import { isLeftOut } from './test-server.ts'

/** Where scripts/install-test-tools puts it. */
const packages = join(homedir(), '.cache', 'streamvault-test-tools', 'asyncua')
const environment = { ...process.env, PYTHONPATH: packages }
const program = join(import.meta.dirname, 'asyncua-process.py')

function isInstalled(): boolean {
  const { status } = spawnSync('python3', ['-c', 'import asyncua.server.server'], {
    env: environment,
  })
  return status === 0
}

/** Whether this machine lacks it, for `describe.skipIf`. */
export const isAsyncuaMissing = isLeftOut('asyncua', isInstalled(), 'scripts/install-test-tools')

type AsyncuaOptions = Pick<
  OpcUaServerOptions,
  'variables' | 'changeEveryMs' | 'changesFrom' | 'changesMax'
> & {
  /** A folder with `certificate.pem` and `key.pem`: only sealed connections are taken then. */
  readonly certificate?: string
}

/** Notifications, and what they have told. */
export type Told = Readonly<Record<string, readonly (readonly [time: string, value: unknown])[]>>

/** A server of OPC UA of another library than ours, as a process of its own. Anybody may come. */
export class AsyncuaTestServer implements OpcUaPeer {
  readonly #options: AsyncuaOptions & { readonly port: number }
  readonly #answers = new Map<number, (told: Told) => void>()
  #child: ChildProcess | undefined
  #log = ''
  #orders = 0

  static async start(options: AsyncuaOptions): Promise<AsyncuaTestServer> {
    const server = new AsyncuaTestServer({ ...options, port: await freePort() })
    await server.start()
    return server
  }

  private constructor(options: AsyncuaOptions & { readonly port: number }) {
    this.#options = options
    process.once('exit', () => this.#child?.kill('SIGKILL'))
  }

  get port(): number {
    return this.#options.port
  }

  get endpoint(): string {
    return `opc.tcp://127.0.0.1:${this.port}`
  }

  async set(values: SetOrder['values']): Promise<void> {
    await this.#order({ values })
  }

  /** What each notification has told by now, whoever has heard it: by `SUBSCRIPTION SEQUENCE`, times of the source and values. */
  async told(): Promise<Told> {
    return await this.#order({ values: [], tells: true })
  }

  async #order(order: Omit<SetOrder, 'id'> & { readonly tells?: boolean }): Promise<Told> {
    const id = ++this.#orders
    const done = new Promise<Told>((resolve, reject) => {
      this.#answers.set(id, resolve)
      this.#child?.once('exit', () => reject(this.#ended()))
    })
    this.#child?.stdin?.write(`${JSON.stringify({ ...order, id })}\n`)
    return await done
  }

  async start(): Promise<void> {
    if (this.#isRunning) return
    const child = spawn('python3', [program, JSON.stringify(this.#options)], { env: environment })
    this.#child = child
    this.#log = ''
    child.setMaxListeners(0)
    child.stderr.on('data', (text: Buffer) => {
      this.#log = `${this.#log}${text.toString()}`.slice(-20_000)
    })
    const ready = new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(this.#ended()))
      createInterface({ input: child.stdout }).on('line', (line) => {
        const told = JSON.parse(line) as 'ready' | { readonly id: number; readonly told: Told }
        if (told === 'ready') resolve()
        else this.#answers.get(told.id)?.(told.told)
      })
    })
    await ready
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (child === undefined || !this.#isRunning) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL')
  }

  get #isRunning(): boolean {
    const child = this.#child
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  #ended(): Error {
    return new Error(`asyncua has ended: ${this.#log}`)
  }
}
