import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** What it says of itself when somebody connects. */
export const greeting = {
  server_id: 'SCRIPTED',
  version: '2.15.2',
  proto: 1,
  headers: true,
  jetstream: true,
  max_payload: 1_048_576,
}

/** Answers to requests for facts, as of a stream with one consumer. */
const facts: Readonly<Record<string, object>> = {
  'STREAM.NAMES': { total: 1, offset: 0, limit: 1_024, streams: ['PLANT'] },
  'STREAM.INFO': {
    config: { name: 'PLANT', subjects: ['plant.>'], retention: 'limits' },
    created: '2026-03-01T00:00:00Z',
    state: { messages: 0, first_seq: 1, last_seq: 0 },
  },
  'CONSUMER.INFO': { error: { code: 404, err_code: 10_014, description: 'consumer not found' } },
  'CONSUMER.CREATE': {
    stream_name: 'PLANT',
    name: 'one',
    config: { ack_policy: 'explicit', filter_subject: 'plant.>' },
    ack_floor: { stream_seq: 0 },
  },
}

/** A request for messages, by the number of the subscription that the answers go to. */
export interface ScriptedRequest {
  readonly socket: Socket
  readonly subscription: string
  readonly inbox: string
}

/** A server that says what a test has it say. */
export class ScriptedNats implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** In place of its greeting. */
  greet: (socket: Socket) => void = (socket) => socket.write(`INFO ${JSON.stringify(greeting)}\r\n`)
  /** When it has let somebody in. */
  welcome: (socket: Socket) => void = () => undefined
  /** When messages are wanted. */
  answer: (request: ScriptedRequest) => void = () => undefined
  /** When a message was acknowledged, by the subject that it was sent with for that. */
  acknowledged: (subject: string) => void = () => undefined
  connections = 0

  static async start(): Promise<ScriptedNats> {
    const server = new ScriptedNats()
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  private constructor() {
    this.#server = createServer((socket) => {
      this.connections++
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      const subscriptions = new Map<string, string>()
      let text = ''
      socket.on('data', (chunk) => {
        const lines = `${text}${chunk.toString('latin1')}`.split('\r\n')
        text = lines.pop() ?? ''
        for (const line of lines) this.#hear(socket, line, subscriptions)
      })
      this.greet(socket)
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get endpoint(): string {
    return `nats://127.0.0.1:${this.port}`
  }

  /** Ends all connections, and goes on. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #hear(socket: Socket, line: string, subscriptions: Map<string, string>): void {
    const [word, ...words] = line.split(' ') as [string, ...string[]]
    if (word === 'PING') {
      socket.write('PONG\r\n')
      this.welcome(socket)
    }
    if (word === 'SUB') subscriptions.set(words[0] ?? '', words.at(-1) ?? '')
    if (word !== 'PUB') return
    const [subject, inbox] = words as [string, string]
    if (subject.startsWith('$JS.ACK.')) this.acknowledged(subject)
    if (words.length < 3) return
    if (subject.includes('MSG.NEXT')) {
      this.answer({ socket, inbox, subscription: subscriptions.get(inbox) ?? '' })
      return
    }
    const known = Object.keys(facts).find((one) => subject.startsWith(`$JS.API.${one}`))
    const body = JSON.stringify(facts[known ?? ''] ?? {})
    const wildcard = inbox.replace(/[^.]+$/, '*')
    socket.write(
      `MSG ${inbox} ${subscriptions.get(wildcard)} ${Buffer.byteLength(body)}\r\n${body}\r\n`,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drop()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
