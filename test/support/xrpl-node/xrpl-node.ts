import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { Chain } from './chain.ts'
import { commands, ledgerMessage, NodeError, type View } from './commands.ts'

/** What happens to the next transaction that is sent: the connection breaks before, or after the node has it. */
export type Cut = 'before' | 'after'

type Message = Readonly<Record<string, unknown>>

/** A node of a chain: WebSocket, and JSON-RPC on the same port. */
export class XrplNode implements AsyncDisposable {
  readonly chain: Chain
  /** What it says that it is of. */
  networkId: number | undefined
  /** Lags behind from this ledger on. */
  stopsAt: number | undefined
  loadFactor = 1
  cut: Cut | undefined
  /** What the next transaction is answered that is sent, instead of what is true of it. */
  answersNext: string | undefined
  /** Whether it takes that one all the same. */
  takesNext = false
  /** What every transaction is answered that is sent: it takes none of them. */
  answersEach: string | undefined
  /** Whether it is several, of which one keeps up and says how they are, as behind a balancer. */
  isSeveral = false
  /** What it says that each asset is called, instead of what is true. */
  issuanceId: string | undefined
  /** Whether it finds no transaction by its hash. */
  isWithoutIndex = false
  /** What it calls an error that it answers everything with. */
  refusesWith: string | undefined
  /** What is made of its answers, by the command. */
  readonly lies = new Map<string, (result: Message) => Message>()
  /** Commands that it was asked for, in order. */
  readonly asked: string[] = []
  #forgotten: readonly [number, number] | undefined
  #server: Server | undefined
  #sockets: WebSocketServer | undefined
  #port = 0
  readonly #subscribers = new Set<WebSocket>()

  /** A node of a chain of its own, or a further one of a chain. */
  static async start(chain = new Chain(1)): Promise<XrplNode> {
    const node = new XrplNode(chain)
    await node.up()
    return node
  }

  private constructor(chain: Chain) {
    this.chain = chain
    this.networkId = chain.rules.networkId
    chain.onClose(() => this.#tellOfLedger())
  }

  get endpoint(): string {
    return `ws://127.0.0.1:${this.#port}`
  }

  /** Its address for JSON-RPC. */
  get httpEndpoint(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Has it know no ledgers from one to another. */
  forget(first: number, last: number): void {
    this.#forgotten = [first, last]
  }

  remember(): void {
    this.#forgotten = undefined
  }

  /** How often it was asked for something. */
  countOf(command: string): number {
    return this.asked.filter((one) => one === command).length
  }

  /** Listens, again on the port that it had. */
  async up(): Promise<void> {
    const server = createServer((request, response) => void this.#answerHttp(request, response))
    this.#sockets = new WebSocketServer({ server })
    this.#sockets.on('connection', (socket) => this.#accept(socket))
    this.#server = server
    server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#port = (server.address() as AddressInfo).port
  }

  async down(): Promise<void> {
    const server = this.#server
    if (!server) return
    this.#server = undefined
    for (const socket of this.#sockets?.clients ?? []) socket.terminate()
    this.#sockets?.close()
    server.closeAllConnections()
    const closed = once(server, 'close')
    server.close()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.chain[Symbol.dispose]()
    await this.down()
  }

  get #view(): View {
    const { chain, networkId, stopsAt, loadFactor, issuanceId } = this
    const [first, last] = this.#forgotten ?? [0, -1]
    const isForgotten = (index: number) => index >= first && index <= last
    return { chain, networkId, stopsAt, loadFactor, issuanceId, isForgotten }
  }

  #accept(socket: WebSocket): void {
    socket.on('error', () => undefined)
    socket.on('close', () => this.#subscribers.delete(socket))
    socket.on('message', (data: Buffer) => {
      const request = JSON.parse(data.toString()) as Message
      const answer = this.#answer(request, () => socket.terminate())
      if (answer && request['command'] === 'subscribe') this.#subscribers.add(socket)
      if (answer) socket.send(JSON.stringify({ id: request['id'], type: 'response', ...answer }))
    })
  }

  /** Undefined where the connection is broken instead. */
  #answer(request: Message, breakOff: () => void): Message | undefined {
    const command = String(request['command'])
    this.asked.push(command)
    const cut = command === 'submit' ? this.cut : undefined
    if (cut) this.cut = undefined
    if (cut === 'before') {
      breakOff()
      return undefined
    }
    const answer = this.#answerOf(command, request)
    if (cut === undefined) return answer
    breakOff()
    return undefined
  }

  #answerOf(command: string, request: Message): Message {
    const said = command === 'submit' ? (this.answersNext ?? this.answersEach) : undefined
    if (said !== undefined) {
      const isTaken = this.takesNext && this.answersNext !== undefined
      this.answersNext = undefined
      if (isTaken) this.chain.submit(String(request['tx_blob']))
      return { status: 'success', result: { engine_result: said } }
    }
    try {
      const answerTo = commands[command]
      // "Universal Errors" of the page on the formatting of errors.
      if (!answerTo) throw new NodeError('unknownCmd')
      if (this.refusesWith !== undefined) throw new NodeError(this.refusesWith)
      if (command === 'tx' && this.isWithoutIndex) throw new NodeError('txnNotFound')
      const isFresh = command === 'server_info' && this.isSeveral
      const view = isFresh ? { ...this.#view, stopsAt: undefined } : this.#view
      const result = answerTo(view, request)
      return { status: 'success', result: this.lies.get(command)?.(result) ?? result }
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      return { status: 'error', error: error.message, error_message: 'in words' }
    }
  }

  async #answerHttp(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { method, params } = JSON.parse(Buffer.concat(pieces).toString()) as {
      readonly method: string
      readonly params: readonly [Message]
    }
    const answer = this.#answer({ ...params[0], command: method }, () => response.destroy())
    if (!answer) return
    const { result, ...others } = answer
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ result: { ...(result as object | undefined), ...others } }))
  }

  #tellOfLedger(): void {
    const message = JSON.stringify({ type: 'ledgerClosed', ...ledgerMessage(this.#view) })
    for (const socket of this.#subscribers) socket.send(message)
  }
}
