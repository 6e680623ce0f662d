import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { monotonicMs } from '../../core/clock.ts'

/** Time for a request to arrive with all of its body: one that drips in is not waited for. */
const requestMs = 30_000

/**
 * A file that goes to the disk as it comes may take longer, if so much of it comes in that time: some
 * 8 KiB a second.
 */
const fileBytesMin = 256 * 1024

/** How often bodies are looked at, and how long the answer may be read before the connection breaks. */
const checkMs = 2_000

interface Arriving {
  dueMs: number
  /** How much of a file had come when it was looked at the last time. */
  bytesRead: number | undefined
  isAnswered: boolean
}

/**
 * Ends requests whose bodies do not arrive in time. Node's own limit is one for all routes of a server;
 * what it does for the head of a request stays with it.
 */
export class ArrivingBodies {
  readonly #nowMs: () => number
  readonly #arriving = new Map<IncomingMessage, Arriving>()

  constructor(nowMs: () => number = () => monotonicMs()) {
    this.#nowMs = nowMs
  }

  /** Looks at all bodies that come to a server, until it closes. */
  watch(server: Server): void {
    // Before the routes hear of it, which may call `takeSlowly` at once.
    server.prependListener('request', (request: IncomingMessage) => {
      const { 'content-length': length, 'transfer-encoding': chunked } = request.headers
      if (length === undefined && chunked === undefined) return
      const dueMs = this.#nowMs() + requestMs
      this.#arriving.set(request, { dueMs, bytesRead: undefined, isAnswered: false })
      // Also of a body that nobody reads: it is let pass.
      request.once('close', () => this.#arriving.delete(request))
    })
    const timer = setInterval(() => this.check(server), checkMs)
    timer.unref()
    server.once('close', () => clearInterval(timer))
  }

  /** From now on it is enough that a body goes on arriving. */
  takeSlowly(request: IncomingMessage): void {
    const arriving = this.#arriving.get(request)
    if (arriving) this.#giveTime(arriving, request)
  }

  /** Ends those whose time is over, with the answer that the server has for it. */
  check(server: Server): void {
    const nowMs = this.#nowMs()
    for (const [request, arriving] of this.#arriving) {
      if (nowMs < arriving.dueMs || request.complete) continue
      const { socket } = request
      if (arriving.isAnswered) socket.destroy()
      else if (goesOn(arriving, socket)) this.#giveTime(arriving, request)
      else {
        arriving.isAnswered = true
        arriving.dueMs = nowMs + checkMs
        const error = new Error('the request did not arrive in time')
        const fault = Object.assign(error, { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
        server.emit('clientError', fault, socket)
      }
    }
  }

  #giveTime(arriving: Arriving, { socket }: IncomingMessage): void {
    arriving.dueMs = this.#nowMs() + requestMs
    arriving.bytesRead = socket.bytesRead
  }
}

function goesOn({ bytesRead }: Arriving, socket: Socket): boolean {
  return bytesRead !== undefined && socket.bytesRead - bytesRead >= fileBytesMin
}
