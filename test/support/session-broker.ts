import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { callbackify } from 'node:util'
import { Aedes } from 'aedes'
import { type Clocks, systemClock } from '../../src/core/clock.ts'
import type { UserId } from '../../src/core/ids.ts'
import { type OpenSessions, openSessions } from '../../src/ingest/mqtt-sessions/open-sessions.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** Whose everything is that these tests keep. */
export const ownerId = '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b' as UserId

/** The broker library over real sessions, where everybody may do everything. */
export class SessionBroker implements AsyncDisposable {
  readonly #folder = new TemporaryFolder()
  readonly #clock: Clocks
  readonly #sockets = new Set<Socket>()
  #generation = 0
  #open: { readonly kept: OpenSessions; readonly aedes: Aedes; readonly server: Server } | undefined

  private constructor(clock: Clocks) {
    this.#clock = clock
  }

  static async start(clock: Clocks = systemClock): Promise<SessionBroker> {
    const broker = new SessionBroker(clock)
    await broker.#start()
    return broker
  }

  get sessions(): OpenSessions['sessions'] {
    return this.#parts.kept.sessions
  }

  get port(): number {
    return (this.#parts.server.address() as AddressInfo).port
  }

  /** Goes on with what a kill would have left at this moment. */
  async crash(): Promise<void> {
    const left = this.#path
    this.#generation++
    // Nobody may hear of what comes after the copy: it is what the crash takes away.
    for (const socket of this.#sockets) socket.destroy()
    for (const ending of ['', '-wal']) cpSync(left + ending, this.#path + ending)
    await this.#stop()
    await this.#start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop()
    this.#folder[Symbol.dispose]()
  }

  get #parts() {
    if (!this.#open) throw new Error('the broker does not run')
    return this.#open
  }

  get #path(): string {
    return this.#folder.file(`sessions-${this.#generation}.db`)
  }

  async #start(): Promise<void> {
    const kept = await openSessions(this.#path, this.#clock)
    const { sessions } = kept
    sessions.begin({
      identify: (clientId) => ({ userId: ownerId, clientId }),
      ownerOf: (topic) => (topic.startsWith('$') ? undefined : ownerId),
      nameFor: (_, topic) => topic,
      apiKeyOf: () => 'a key',
    })
    const aedes = new Aedes({
      persistence: sessions.persistence,
      authorizePublish: (client, packet, done) =>
        callbackify(() => sessions.keep(client, packet))(done),
      authorizeForward: (client, packet) => sessions.forward(client, packet),
      authorizeSubscribe(client, subscription, done) {
        const isGranted = !subscription.topic.startsWith('refused')
        done(null, isGranted && sessions.grant(client, subscription) ? subscription : null)
      },
    })
    await aedes.listen()
    const server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      aedes.handle(socket)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    this.#open = { kept, aedes, server }
  }

  async #stop(): Promise<void> {
    const { kept, aedes, server } = this.#parts
    await new Promise<void>((resolve) => {
      aedes.close(resolve)
    })
    server.close()
    await kept.close()
  }
}
