import { once } from 'node:events'
import { WebSocket } from 'ws'
import { messageOf } from '../../core/errors.ts'

/** How long a node may take to answer. */
const answerMsMax = 10_000

/** Bytes of one answer: logs of many blocks are the largest. */
const answerBytesMax = 32 * 1024 * 1024

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a node says to one call. The words of an error are left out: they differ from node to node, and nothing depends on them. */
export type RpcAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly data: unknown } }

/** A way to one node. */
export interface Connection {
  /**
   * Asks for several things at once. Resolves with an answer to each, in order.
   *
   * @throws Error that names no address, when there is none
   */
  ask(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]>
  close(): void
}

/** Opens what an address begins with: `http:`, `https:`, `ws:` or `wss:`. Nothing is sent before something is asked. */
export function connectionTo(endpoint: string): Connection {
  return /^wss?:/i.test(endpoint) ? new SocketConnection(endpoint) : new HttpConnection(endpoint)
}

class HttpConnection implements Connection {
  readonly #endpoint: string

  constructor(endpoint: string) {
    this.#endpoint = endpoint
  }

  async ask(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
    let text: string
    try {
      const response = await fetch(this.#endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(calls.map(requestOf)),
        redirect: 'error',
        signal: AbortSignal.timeout(answerMsMax),
      })
      text = await limitedText(response)
    } catch {
      // What it says itself may show the address, and that may hold a token.
      throw new Error('the node does not answer')
    }
    const messages = parsedMessages(text)
    return calls.map((_, at) => answerOf(messages.get(at)))
  }

  close(): void {
    // Each request is one of its own.
  }
}

class SocketConnection implements Connection {
  readonly #endpoint: string
  #socket: WebSocket | undefined
  #opening: Promise<WebSocket> | undefined
  #asked = 0
  readonly #waiting = new Map<number, PromiseWithResolvers<RpcAnswer>>()

  constructor(endpoint: string) {
    this.#endpoint = endpoint
  }

  async ask(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
    const socket = await this.#opened()
    const answers = calls.map((call) => {
      const id = ++this.#asked
      const waiting = Promise.withResolvers<RpcAnswer>()
      this.#waiting.set(id, waiting)
      socket.send(JSON.stringify(requestOf(call, id)))
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
  }

  /** One for all who ask at once. */
  async #opened(): Promise<WebSocket> {
    if (this.#socket?.readyState === WebSocket.OPEN) return this.#socket
    this.#opening ??= this.#open()
    try {
      return await this.#opening
    } catch {
      throw new Error('the node does not answer')
    } finally {
      this.#opening = undefined
    }
  }

  async #open(): Promise<WebSocket> {
    const options = { handshakeTimeout: answerMsMax, maxPayload: answerBytesMax }
    const socket = new WebSocket(this.#endpoint, options)
    this.#socket = socket
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer) => this.#take(data.toString()))
    socket.once('close', () => this.#fail('the node does not answer'))
    await once(socket, 'open')
    return socket
  }

  /** What cannot be read is an answer to nobody knows whom: all have to ask again. */
  #take(text: string): void {
    try {
      for (const [id, message] of parsedMessages(text)) {
        const waiting = this.#waiting.get(id)
        if (!waiting) continue
        waiting.resolve(answerOf(message))
        this.#waiting.delete(id)
      }
    } catch (error) {
      this.#fail(messageOf(error))
      this.#socket?.terminate()
    }
  }

  #fail(problem: string): void {
    for (const { promise, reject } of this.#waiting.values()) {
      promise.catch(() => undefined)
      reject(new Error(problem))
    }
    this.#waiting.clear()
  }
}

function requestOf({ method, params }: RpcCall, id: number) {
  return { jsonrpc: '2.0', id, method, params }
}

type Message = Readonly<Record<string, unknown>>

/** Answers by the number of the call that they are to. */
function parsedMessages(text: string): ReadonlyMap<number, Message> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new Error('the node answers something that is no JSON')
  }
  const messages = new Map<number, Message>()
  for (const one of Array.isArray(parsed) ? (parsed as readonly unknown[]) : [parsed]) {
    const message = one as Message | null
    if (typeof message?.['id'] === 'number') messages.set(message['id'], message)
  }
  return messages
}

function answerOf(message: Message | undefined): RpcAnswer {
  const error = message?.['error'] as { code?: unknown; data?: unknown } | undefined
  if (error) return { error: { code: Number(error.code), data: error.data } }
  if (message?.['result'] === undefined) throw new Error('the node leaves something unanswered')
  return { result: message['result'] }
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
