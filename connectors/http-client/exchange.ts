import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Dial, DialedTls } from '../../src/contracts/fetch-connector.ts'
import { decompressed } from './content-coding.ts'
import { DialAgent } from './dial-agent.ts'
import { destinationOf } from './http-options.ts'
import { largePageMs, PageRoom, smallBytesMax } from './page-room.ts'

/** The largest body, before and after it is decompressed. */
const bodyBytesMax = 32 * 1024 * 1024

/** Bytes that are read of an answer that is no page: enough to say why. */
const reasonBytesMax = 16 * 1024

const headerBytesMax = 32 * 1024

/** Origins to which connections are kept within a round. */
const originsMax = 4

export interface ApiRequest {
  readonly url: URL
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Where the memory of the answer is counted. */
  readonly room: PageRoom
}

export interface ApiAnswer {
  /** Where it came from, behind all redirects. */
  readonly url: URL
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** Whole and decompressed for 2xx; else its beginning. */
  readonly body: Buffer
}

/** An answer that has begun. */
export interface OpenedAnswer extends ApiAnswer {
  /** What is still to come of it. */
  readonly incoming?: IncomingMessage
}

interface BegunAnswer {
  readonly incoming: IncomingMessage
  readonly status: number
  /** What has gone wrong until now. */
  readonly failure: Error | undefined
}

interface ExchangesNeeds {
  readonly dial: Dial
  /** Signal that ends the round. */
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** Whom to trust and to expect, by origin: the usual ones where nothing is said. */
  readonly tlsOf: (origin: string) => DialedTls
}

/** Requests of one round, over connections that are kept between them. */
export class Exchanges implements Disposable {
  readonly #needs: ExchangesNeeds
  readonly #agents = new Map<string, DialAgent>()

  constructor(needs: ExchangesNeeds) {
    this.#needs = needs
  }

  /** Sends a request once. @throws Error when there is no whole answer in time, or too much of one */
  async send({ room, ...asked }: ApiRequest): Promise<ApiAnswer> {
    const limit = {
      patience: AbortSignal.timeout(this.#needs.timeoutMs),
      missed: 'complete answer',
    }
    return await this.#inTime(limit, async (signal) => {
      const begun = await this.#begin(asked, signal)
      const { incoming, status } = begun
      const isPage = status >= 200 && status < 300
      const body = await bodyOf(incoming, { isPage, room, signal })
      // What stands behind the end of the answer is found by the parser before the end can be read.
      if (isPage && begun.failure !== undefined) {
        throw new Error('the answer is longer than it says', { cause: begun.failure })
      }
      return { url: asked.url, status, headers: incoming.headers, body }
    })
  }

  /**
   * Sends a request once; of a 200 the body is still to come, and there is no limit to when. Whoever reads it has to
   * hear of its failures.
   *
   * @throws Error when the answer has not begun in time
   */
  async open(asked: Omit<ApiRequest, 'room'>): Promise<OpenedAnswer> {
    const patience = new AbortController()
    const timer = setTimeout(() => patience.abort(), this.#needs.timeoutMs)
    try {
      const limit = { patience: patience.signal, missed: 'answer' }
      return await this.#inTime(limit, async (signal) => {
        const { incoming, status } = await this.#begin(asked, signal)
        const answer = { url: asked.url, status, headers: incoming.headers }
        if (status === 200) return { ...answer, incoming, body: empty }
        return { ...answer, body: await beginningOf(incoming, signal) }
      })
    } finally {
      clearTimeout(timer)
    }
  }

  [Symbol.dispose](): void {
    for (const agent of this.#agents.values()) agent.close()
    this.#agents.clear()
  }

  async #inTime<Answer>(
    { patience, missed }: { readonly patience: AbortSignal; readonly missed: string },
    ask: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const { signal: ended, timeoutMs } = this.#needs
    try {
      return await ask(AbortSignal.any([ended, patience]))
    } catch (error) {
      ended.throwIfAborted()
      if (patience.aborted) {
        throw new Error(`there was no ${missed} within ${timeoutMs / 1_000} s`, { cause: error })
      }
      throw understood(error)
    }
  }

  async #begin(asked: Omit<ApiRequest, 'room'>, signal: AbortSignal): Promise<BegunAnswer> {
    const { url, method, headers, body } = asked
    const agent = this.#agentOf(url)
    agent.signal = signal
    const outgoing = request({
      ...destinationOf(url),
      agent,
      path: `${url.pathname}${url.search}`,
      method,
      headers: { host: url.host, ...headers },
      maxHeaderSize: headerBytesMax,
      signal,
    })
    let failure: Error | undefined
    outgoing.on('error', (error) => {
      failure ??= error
    })
    outgoing.end(body)
    const incoming = await responseOf(outgoing, signal)
    // A kept connection may end just when it is used again, before the other side has seen the request.
    if (incoming === undefined) return await this.#begin(asked, signal)
    return {
      incoming,
      status: incoming.statusCode ?? 0,
      get failure() {
        return failure
      },
    }
  }

  #agentOf(url: URL): DialAgent {
    const known = this.#agents.get(url.origin)
    if (known) return known
    if (this.#agents.size >= originsMax) this[Symbol.dispose]()
    const { dial, tlsOf } = this.#needs
    const tls = url.protocol === 'https:' ? tlsOf(url.origin) : undefined
    const agent = new DialAgent(dial, tls)
    this.#agents.set(url.origin, agent)
    return agent
  }
}

/** The answer to a request; undefined where it may be sent again on another connection. */
async function responseOf(
  outgoing: ClientRequest,
  signal: AbortSignal,
): Promise<IncomingMessage | undefined> {
  try {
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    return incoming
  } catch (error) {
    const isStale = outgoing.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
    if (isStale && outgoing.method === 'GET' && !signal.aborted) return undefined
    throw error
  }
}

interface Reading {
  readonly isPage: boolean
  readonly room: PageRoom
  readonly signal: AbortSignal
}

/** Reads the beginning of an answer that is not what was asked for: enough to say why. */
export async function beginningOf(incoming: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  using room = new PageRoom()
  return await bodyOf(incoming, { isPage: false, room, signal })
}

async function bodyOf(incoming: IncomingMessage, reading: Reading): Promise<Buffer> {
  const { isPage, room, signal } = reading
  const declared = Number(incoming.headers['content-length'])
  if (isPage && declared > bodyBytesMax) {
    incoming.destroy()
    throw new Error(tooLarge)
  }
  const body = await received(incoming, reading)
  const coding = incoming.headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (coding === '' || coding === 'identity') return body
  if (!isPage)
    return (await decompressed(body, coding, reasonBytesMax).catch(() => undefined)) ?? empty
  const small = await decompressed(body, coding, smallBytesMax)
  if (small !== undefined) return small
  await room.need(bodyBytesMax, signal)
  const large = await decompressed(body, coding, bodyBytesMax)
  if (large === undefined) throw new Error(tooLarge)
  return large
}

const tooLarge = `the answer is larger than ${bodyBytesMax / 1024 / 1024} MiB`
const empty = Buffer.alloc(0)

/** The bytes of a body, copied together as they come: each chunk may hold much more memory than it has bytes. */
async function received(
  incoming: IncomingMessage,
  { isPage, room, signal }: Reading,
): Promise<Buffer> {
  let held = Buffer.allocUnsafe(16 * 1024)
  let length = 0
  let deadline: NodeJS.Timeout | undefined
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      if (isPage && length + chunk.length > bodyBytesMax) throw new Error(tooLarge)
      if (length + chunk.length > held.length) {
        await room.need(2 * (length + chunk.length), signal)
        if (room.isLarge) deadline ??= setTimeout(() => incoming.destroy(tooSlow()), largePageMs)
        const larger = Buffer.allocUnsafe(2 * (length + chunk.length))
        held.copy(larger, 0, 0, length)
        held = larger
      }
      chunk.copy(held, length)
      length += chunk.length
      if (!isPage && length >= reasonBytesMax) break
    }
    return held.subarray(0, length)
  } finally {
    clearTimeout(deadline)
  }
}

function tooSlow(): Error {
  return new Error(`an answer of more than 1 MiB has to be here within ${largePageMs / 1_000} s`)
}

/** What the library says of an answer, in words of somebody who has not read the library. */
function understood(error: unknown): Error {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Error(`the headers are larger than ${headerBytesMax / 1024} KiB`, { cause: error })
  }
  if (code.startsWith('HPE_')) return new Error(`no answer in HTTP: ${message}`, { cause: error })
  if (code === 'ECONNRESET') {
    return new Error('the connection ended before the answer did', { cause: error })
  }
  return error as Error
}
