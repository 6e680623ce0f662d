import type { WebSocket } from 'ws'
import { LedgerUnreachable } from '../ledger.ts'
import { failureOf, messageIn, parsedJson, tooLate } from './node-failure.ts'
import {
  type Message,
  type NodeConnection,
  type Patience,
  usualPatience,
  type Wording,
} from './wording.ts'

/** A WebSocket for all that is asked, opened when something is, and again once it is closed. */
export class SocketConnection<Call, Answer> implements NodeConnection<Call, Answer> {
  readonly #endpoint: string
  readonly #wording: Wording<Call, Answer>
  /** One for all who ask at once; undefined where there is none, or none any more. */
  #opening: PromiseWithResolvers<WebSocket> | undefined
  #socket: WebSocket | undefined
  #asked = 0
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>()

  constructor(endpoint: string, wording: Wording<Call, Answer>) {
    this.#endpoint = endpoint
    this.#wording = wording
  }

  async ask(
    calls: readonly Call[],
    { timeoutMs, signal }: Patience = usualPatience,
  ): Promise<readonly Answer[]> {
    const late = setTimeout(() => this.#end(tooLate()), timeoutMs)
    const hangUp = () => this.close()
    signal?.addEventListener('abort', hangUp)
    try {
      const socket = await this.#opened()
      return await Promise.all(calls.map((call) => this.#askFor(socket, call)))
    } finally {
      clearTimeout(late)
      signal?.removeEventListener('abort', hangUp)
    }
  }

  close(): void {
    this.#end(new LedgerUnreachable('the request was given up'))
  }

  async #askFor(socket: WebSocket, call: Call): Promise<Answer> {
    const id = ++this.#asked
    const waiting = Promise.withResolvers<Answer>()
    this.#waiting.set(id, waiting)
    socket.send(JSON.stringify(this.#wording.message(call, id)))
    return await waiting.promise
  }

  async #opened(): Promise<WebSocket> {
    if (!this.#opening) {
      const opening = Promise.withResolvers<WebSocket>()
      this.#opening = opening
      await this.#open(opening).catch((error: unknown) => this.#end(failureOf(error)))
      return await opening.promise
    }
    return await this.#opening.promise
  }

  async #open(opening: PromiseWithResolvers<WebSocket>): Promise<void> {
    const { WebSocket: Socket } = await import('ws')
    // It was given up meanwhile.
    if (this.#opening !== opening) return
    const maxPayload = this.#wording.answerBytesMax
    const socket = new Socket(this.#endpoint, { maxPayload, followRedirects: false })
    this.#socket = socket
    const end = (error: LedgerUnreachable) => {
      // Another one may be in its place.
      if (this.#socket === socket) this.#end(error)
    }
    socket.on('error', (error) => end(failureOf(error)))
    socket.on('close', () => end(new LedgerUnreachable('the node hangs up')))
    socket.on('open', () => opening.resolve(socket))
    socket.on('message', (data: Buffer) => this.#take(data.toString('utf8')))
  }

  /** What cannot be read is an answer to nobody knows whom: all have to ask again. */
  #take(text: string): void {
    let message: Message
    try {
      message = messageIn(parsedJson(text))
    } catch (error) {
      this.#end(failureOf(error))
      return
    }
    const id = Number(message['id'])
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    try {
      waiting?.resolve(this.#wording.answerOf(message))
    } catch (error) {
      waiting?.reject(error)
    }
  }

  /** Leaves the socket; whoever waits for something hears why. */
  #end(why: LedgerUnreachable): void {
    const socket = this.#socket
    const opening = this.#opening
    this.#socket = undefined
    this.#opening = undefined
    for (const { promise, reject } of [...(opening ? [opening] : []), ...this.#waiting.values()]) {
      promise.catch(() => undefined)
      reject(why)
    }
    this.#waiting.clear()
    socket?.terminate()
  }
}
