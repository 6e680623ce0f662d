import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import { freePort } from '../../scripts/servers/free-port.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** Lines of mosquitto.conf that let it keep and pass on all that a test sends. */
const generous = [
  'allow_anonymous true',
  'max_queued_messages 0',
  'max_queued_bytes 0',
  'set_tcp_nodelay true',
]

/** A real broker that somebody else runs. What it has to keep outlasts a restart, not a kill. */
export class Mosquitto implements AsyncDisposable {
  readonly #folder = new TemporaryFolder()
  readonly port: number
  readonly #clients: MqttClient[] = []
  #child: ChildProcess | undefined

  /** @param settings lines of mosquitto.conf: they come last, of the default listener */
  static async start(settings: readonly string[] = [], port?: number): Promise<Mosquitto> {
    const broker = new Mosquitto(port ?? (await freePort()), settings)
    await broker.start()
    return broker
  }

  private constructor(port: number, settings: readonly string[]) {
    this.port = port
    const kept = ['persistence true', `persistence_location ${this.#folder.path}/`]
    const log = [`log_dest file ${this.#folder.file('log')}`, 'log_type all']
    const lines = [
      // As root it would become somebody else, who may not write down what it has to keep.
      `user ${userInfo().username}`,
      ...kept,
      ...log,
      ...generous,
      `listener ${port} 127.0.0.1`,
      ...settings,
    ]
    writeFileSync(this.#folder.file('mosquitto.conf'), `${lines.join('\n')}\n`)
  }

  get endpoint(): string {
    return `mqtt://127.0.0.1:${this.port}`
  }

  /** What it tells of its clients. */
  log(): readonly string[] {
    return readFileSync(this.#folder.file('log'), 'utf8').split('\n')
  }

  async start(): Promise<void> {
    const child = spawn('mosquitto', ['-c', this.#folder.file('mosquitto.conf')], {
      stdio: 'ignore',
    })
    this.#child = child
    while (!(await isListening(this.port))) {
      if (child.exitCode !== null) throw new Error('mosquitto ended at its start')
      await sleep(20)
    }
  }

  /** Ends it in good order: it writes down what it has to keep. */
  async stop(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }

  /** A client of it that publishes. */
  async client(options: IClientOptions = {}): Promise<MqttClient> {
    const client = await connectAsync(this.endpoint, { reconnectPeriod: 100, ...options })
    client.on('error', () => undefined)
    this.#clients.push(client)
    return client
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.end(true)
    await this.stop()
    this.#folder[Symbol.dispose]()
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return await new Promise((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  }).then((isOpen) => {
    socket.destroy()
    return isOpen === true
  })
}
