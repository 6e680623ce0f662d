import type { Socket } from 'node:net'
import type { Poll } from '../../src/contracts/poll-connector.ts'

/** A page that has more bytes is given up: it would be all in memory. */
const pageBytesMax = 128 * 1024 * 1024

/**
 * Rows of the largest page that is asked for: an empty one takes much more memory than it has
 * bytes.
 */
const pageRowsMax = 110_000

/** Time for an answer to come after the server should have given up. */
const graceMs = 5_000

const watchMs = 100

/** Time for a library to say what it makes of a closed connection. One that was closed before it listened says nothing. */
const closedMs = 1_000

export interface GuardedSocketNeeds {
  readonly socket: Socket
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** A connection that ends when a round ends, an answer takes too long, or a page is too large. */
export class GuardedSocket {
  readonly socket: Socket
  readonly #needs: GuardedSocketNeeds
  #failure: Error | undefined
  /** Ends the wait for an answer, whatever the library does; undefined while none is waited for. */
  #giveUp: ((failure: Error) => void) | undefined
  /** Rows that have arrived of the present answer. */
  #rows = 0

  static async open(
    destination: { readonly host: string; readonly port: number },
    { dial, signal }: Pick<Poll, 'dial' | 'signal'>,
    timeoutMs: number,
  ): Promise<GuardedSocket> {
    return new GuardedSocket({ socket: await dial({ ...destination, signal }), signal, timeoutMs })
  }

  private constructor(needs: GuardedSocketNeeds) {
    this.#needs = needs
    const { socket, signal } = needs
    this.socket = socket
    socket.on('error', () => undefined)
    signal.addEventListener('abort', this.#abort)
    socket.once('close', () => signal.removeEventListener('abort', this.#abort))
    if (signal.aborted) this.#abort()
  }

  /**
   * Waits for an answer.
   *
   * @throws Error that says why the connection was ended, where it was ended here
   */
  async answer<Value>(asked: Promise<Value>): Promise<Value> {
    const { timeoutMs } = this.#needs
    const seconds = timeoutMs / 1_000
    const timer = setTimeout(() => {
      this.#end(new Error(`the server has not answered in ${seconds} s`))
    }, timeoutMs + graceMs)
    this.#rows = 0
    const bytesBefore = this.socket.bytesRead
    const watch = setInterval(() => {
      if (this.socket.bytesRead - bytesBefore > pageBytesMax) this.#end(tooLarge())
    }, watchMs)
    let closed: NodeJS.Timeout | undefined
    const onClose = () => {
      closed = setTimeout(
        () => this.#end(new Error('the server has closed the connection')),
        closedMs,
      )
    }
    if (this.socket.closed) onClose()
    else this.socket.once('close', onClose)
    try {
      return await this.#answered(asked)
    } catch (error) {
      throw this.#failure ?? error
    } finally {
      clearTimeout(timer)
      clearInterval(watch)
      clearTimeout(closed)
      this.socket.off('close', onClose)
    }
  }

  /** Rejects as well when the connection is ended here: a library may never notice that. */
  async #answered<Value>(asked: Promise<Value>): Promise<Value> {
    try {
      return await new Promise<Value>((resolve, reject) => {
        this.#giveUp = reject
        if (this.#failure !== undefined) reject(this.#failure)
        asked.then(resolve, reject)
      })
    } finally {
      this.#giveUp = undefined
    }
  }

  /** Counts a row that has come. */
  readonly countRow = (): void => {
    this.#rows++
    if (this.#rows > pageRowsMax)
      this.#end(new Error('the server sends more rows than were asked for'))
  }

  readonly #abort = (): void => {
    this.#end(this.#needs.signal.reason as Error)
  }

  #end(failure: Error): void {
    this.#failure ??= failure
    this.socket.destroy()
    this.#giveUp?.(this.#failure)
  }
}

function tooLarge(): Error {
  return new Error(`a page has more than ${pageBytesMax} bytes: make pageSize smaller`)
}
