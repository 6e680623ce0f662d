import { once } from 'node:events'
import { WebSocket } from 'ws'

/** How long a node may take to answer. */
const answerMsMax = 10_000

/** Bytes of one answer: pages of the history of an account are the largest. */
const answerBytesMax = 16 * 1024 * 1024

/** The shape of answers that is asked for (https://xrpl.org/docs/references/http-websocket-apis/api-conventions/request-formatting). */
const apiVersion = 2

export interface NodeCall {
  readonly command: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** What a node says to one call: the name of an error is part of the protocol, its words are left out. */
export type NodeAnswer =
  | { readonly result: Readonly<Record<string, unknown>> }
  | { readonly error: string }

/** A way to one node. */
export interface NodeConnection {
  /**
   * Asks for several things, of which any may be answered first. Resolves with an answer to each, in order.
   *
   * @throws Error that names no address, when there is none
   */
  ask(calls: readonly NodeCall[]): Promise<readonly NodeAnswer[]>
  close(): void
}

/** Opens what an address begins with: `http:`, `https:`, `ws:` or `wss:`. Nothing is sent before something is asked. */
export function connectionTo(endpoint: string): NodeConnection {
  return /^wss?:/i.test(endpoint) ? new SocketConnection(endpoint) : new HttpConnection(endpoint)
}

class HttpConnection implements NodeConnection {
  readonly #endpoint: string

  constructor(endpoint: string) {
    this.#endpoint = endpoint
  }

  async ask(calls: readonly NodeCall[]): Promise<readonly NodeAnswer[]> {
    return await Promise.all(calls.map((call) => this.#askOne(call)))
  }

  close(): void {
    // Each request is one of its own.
  }

  async #askOne({ command, params }: NodeCall): Promise<NodeAnswer> {
    let text: string
    try {
      const response = await fetch(this.#endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ method: command, params: [{ ...params, api_version: apiVersion }] }),
        redirect: 'error',
        signal: AbortSignal.timeout(answerMsMax),
      })
      text = await limitedText(response)
    } catch {
      // What it says itself may show the address, and that may hold a token.
      throw unanswered()
    }
    const { result } = parsed(text)
    return answerOf({ result, ...(result as Message | undefined) })
  }
}

class SocketConnection implements NodeConnection {
  readonly #endpoint: string
  #socket: WebSocket | undefined
  #asked = 0
  readonly #waiting = new Map<number, PromiseWithResolvers<NodeAnswer>>()

  constructor(endpoint: string) {
    this.#endpoint = endpoint
  }

  async ask(calls: readonly NodeCall[]): Promise<readonly NodeAnswer[]> {
    const socket = await this.#opened()
    const answers = calls.map(({ command, params }) => {
      const id = ++this.#asked
      const waiting = Promise.withResolvers<NodeAnswer>()
      this.#waiting.set(id, waiting)
      socket.send(JSON.stringify({ ...params, id, command, api_version: apiVersion }))
      return waiting.promise
    })
    const late = setTimeout(() => socket.terminate(), answerMsMax)
    try {
      return await Promise.all(answers)
    } finally {
      clearTimeout(late)
    }
  }

  close(): void {
    this.#socket?.terminate()
    this.#socket = undefined
  }

  async #opened(): Promise<WebSocket> {
    if (this.#socket?.readyState === WebSocket.OPEN) return this.#socket
    if (this.#socket?.readyState !== WebSocket.CONNECTING) this.#socket = this.#connected()
    const socket = this.#socket
    try {
      if (socket.readyState === WebSocket.CONNECTING) await once(socket, 'open')
    } catch {
      throw unanswered()
    }
    return socket
  }

  #connected(): WebSocket {
    const options = { handshakeTimeout: answerMsMax, maxPayload: answerBytesMax }
    const socket = new WebSocket(this.#endpoint, options)
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer) => this.#take(socket, data.toString()))
    socket.once('close', () => this.#fail())
    return socket
  }

  #take(socket: WebSocket, text: string): void {
    let message: Message
    try {
      message = parsed(text)
    } catch {
      socket.terminate()
      return
    }
    const id = Number(message['id'])
    this.#waiting.get(id)?.resolve(answerOf(message))
    this.#waiting.delete(id)
  }

  #fail(): void {
    for (const { promise, reject } of this.#waiting.values()) {
      promise.catch(() => undefined)
      reject(unanswered())
    }
    this.#waiting.clear()
  }
}

type Message = Readonly<Record<string, unknown>>

function parsed(text: string): Message {
  const message: unknown = JSON.parse(text)
  if (typeof message !== 'object' || message === null) throw new Error('it is no object')
  return message as Message
}

/** An answer that leaves something out is an error with a name of its own. */
function answerOf({ error, result }: Message): NodeAnswer {
  if (typeof error === 'string') return { error }
  if (typeof result !== 'object' || result === null) return { error: 'nothing' }
  return { result: result as Message }
}

function unanswered(): Error {
  return new Error('the node does not answer')
}

async function limitedText(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    const chunk = piece as Uint8Array
    bytes += chunk.length
    if (bytes > answerBytesMax) throw new Error('the answer is too long')
    pieces.push(chunk)
  }
  return Buffer.concat(pieces).toString()
}
