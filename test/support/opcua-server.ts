import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { freePort } from '../../scripts/servers/free-port.ts'
import { forkOpcUa, opcUaCredentials, opcUaPki } from '../../scripts/servers/opcua.ts'
import type { OpcUaServerOptions, SetOrder } from '../../scripts/servers/opcua-process.ts'
import type { OpcUaPeer } from './opcua-peer.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** A server of OPC UA for one test file, as a process of its own. */
export class OpcUaTestServer implements OpcUaPeer {
  readonly #folder = new TemporaryFolder()
  readonly #options: OpcUaServerOptions
  #child: ChildProcess | undefined
  #orders = 0

  static async start(options: Omit<OpcUaServerOptions, 'port'>): Promise<OpcUaTestServer> {
    const server = new OpcUaTestServer({
      user: opcUaCredentials,
      ...options,
      port: await freePort(),
    })
    await server.start()
    return server
  }

  private constructor(options: OpcUaServerOptions) {
    this.#options = options
    process.once('exit', () => this.#child?.kill('SIGKILL'))
  }

  get port(): number {
    return this.#options.port
  }

  get endpoint(): string {
    return `opc.tcp://127.0.0.1:${this.port}`
  }

  /** The folder with its certificate, and those that it trusts. */
  get pki(): string {
    return opcUaPki(this.#folder.path)
  }

  /** Sets variables, one after the other; resolves when it is done. */
  async set(values: SetOrder['values']): Promise<void> {
    const id = ++this.#orders
    const done = Promise.withResolvers<void>()
    const fail = () =>
      done.reject(new Error(`it has ended: ${readFileSync(this.#folder.file('log'), 'utf8')}`))
    this.#child?.once('exit', fail)
    const hear = (answer: unknown) => {
      if ((answer as { readonly id?: number }).id === id) done.resolve()
    }
    this.#child?.on('message', hear)
    this.#child?.send({ id, values } satisfies SetOrder)
    await done.promise
    this.#child?.off('message', hear)
    this.#child?.off('exit', fail)
  }

  get #isRunning(): boolean {
    const child = this.#child
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  async start(): Promise<void> {
    if (this.#isRunning) return
    this.#child = await forkOpcUa(this.#folder.path, this.#options)
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
    this.#folder[Symbol.dispose]()
  }
}
