import { isIP } from 'node:net'
import { buildConnector, type Dispatcher, Pool } from 'undici'
import { race } from '../core/race.ts'
import type { EgressGuard } from './egress-guard.ts'
import { unresolved } from './unresolved.ts'

/** How much of an answer is read; then the connection is closed. */
const readBytesMax = 64 * 1024

/** How much of what was read is kept. */
const keptBytesMax = 1_024

/** Time for a connection to one address, TLS included. */
const connectMs = 10_000

/** Connections without a request end soon: a receiver may close them at any time. */
const idleMs = 4_000

/** Places, each with its idle connections, that are remembered. */
const poolsMax = 512

/** A request that is sent once, wherever it leads: redirects are not followed. */
export interface HttpRequest {
  readonly url: URL
  /** Each name once; `Host` and the length are added. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Ends the whole exchange: name, connection, answer and its body. */
  readonly signal: AbortSignal
}

export interface HttpAnswer {
  readonly statusCode: number
  /** The beginning of the body, as it came: nothing is decompressed. */
  readonly excerpt: Buffer
}

/**
 * Sends requests to where users want them, through the guard
 * (decisions.md#destinations-that-are-allowed). The addresses are asked for before each request,
 * and the connection it goes over, new or used before, leads to one of those.
 */
export class GuardedHttp {
  readonly #guard: EgressGuard
  readonly #pools = new Map<string, Pool>()
  readonly #lookUps = new Map<string, Promise<readonly string[]>>()

  constructor(guard: EgressGuard) {
    this.#guard = guard
  }

  /**
   * Sends a POST.
   *
   * @throws DomainError `destination_not_allowed`
   * @throws Error with the reason of the signal, or with what was wrong on the way
   */
  async post(request: HttpRequest): Promise<HttpAnswer> {
    const { url, signal } = request
    const addresses = await unlessAborted(this.#addressesOf(url), signal)
    let failure: unknown = unresolved(url.hostname)
    for (const address of addresses) {
      const exchange = new Exchange(this.#poolOf(url, address), request)
      try {
        return await exchange.done()
      } catch (error) {
        // What may have arrived is not sent to another address.
        if (exchange.hasBegun || signal.aborted) throw error
        failure = error
      }
    }
    throw failure
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.destroy()))
  }

  /** Requests that begin while a name is being looked up share the answer. */
  async #addressesOf({ hostname, port, protocol }: URL): Promise<readonly string[]> {
    const host = hostname.replace(/^\[|\]$/g, '')
    const destination = { host, port: Number(port) || defaultPorts[protocol] || 0 }
    const key = `${host} ${destination.port}`
    const known = this.#lookUps.get(key)
    if (known) return await known
    const lookUp = this.#guard.addressesOf(destination)
    this.#lookUps.set(key, lookUp)
    try {
      return await lookUp
    } finally {
      this.#lookUps.delete(key)
    }
  }

  #poolOf({ origin }: URL, address: string): Pool {
    const key = `${origin} ${address}`
    const pool = this.#pools.get(key) ?? poolTo(origin, address)
    // To the young end: the oldest is forgotten.
    this.#pools.delete(key)
    this.#pools.set(key, pool)
    for (const [oldest, other] of this.#pools) {
      if (this.#pools.size <= poolsMax) break
      this.#pools.delete(oldest)
      void other.close()
    }
    return pool
  }
}

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** Connections of one origin that lead to this address, whatever its name says a moment later. */
function poolTo(origin: string, address: string): Pool {
  const connect = buildConnector({ timeout: connectMs, allowH2: false, minVersion: 'TLSv1.2' })
  return new Pool(origin, {
    connect(options, callback) {
      const { hostname, protocol } = options
      const host = hostname.replace(/^\[|\]$/g, '')
      // The certificate has to be good for the name; an address is no server name (RFC 6066, section 3).
      const servername = protocol === 'https:' && isIP(host) === 0 ? { servername: host } : {}
      connect({ ...options, ...servername, hostname: address }, callback)
    },
    allowH2: false,
    pipelining: 1,
    // The signal of each exchange is the only clock.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
  })
}

/** One request and its answer. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #answered = Promise.withResolvers<HttpAnswer>()
  readonly #request: HttpRequest
  readonly #abort: () => void
  readonly #chunks: Buffer[] = []
  #controller: Dispatcher.DispatchController | undefined
  #statusCode = 0
  #readBytes = 0
  /** Whether something of the request may have been sent. */
  hasBegun = false

  constructor(pool: Pool, request: HttpRequest) {
    this.#request = request
    const { url, headers, body, signal } = request
    this.#abort = () => {
      const reason = signal.reason as Error
      this.#answered.reject(reason)
      this.#controller?.abort(reason)
    }
    signal.addEventListener('abort', this.#abort)
    const path = url.pathname + url.search
    pool.dispatch({ path, method: 'POST', headers: { ...headers }, body }, this)
  }

  async done(): Promise<HttpAnswer> {
    try {
      return await this.#answered.promise
    } finally {
      this.#request.signal.removeEventListener('abort', this.#abort)
    }
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    const { signal } = this.#request
    if (signal.aborted) controller.abort(signal.reason as Error)
    else this.hasBegun = true
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number): void {
    this.#statusCode = statusCode
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#readBytes < keptBytesMax) {
      this.#chunks.push(chunk.subarray(0, keptBytesMax - this.#readBytes))
    }
    this.#readBytes += chunk.length
    if (this.#readBytes <= readBytesMax) return
    this.#finish()
    controller.abort(new Error('the answer is longer than what is read of it'))
  }

  onResponseEnd(): void {
    this.#finish()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#answered.reject(error)
  }

  #finish(): void {
    const excerpt = Buffer.concat(this.#chunks)
    this.#answered.resolve({ statusCode: this.#statusCode, excerpt })
  }
}

/** Name servers may be silent for long, and whoever has given up does not wait for them. */
async function unlessAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    return await race([value, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
