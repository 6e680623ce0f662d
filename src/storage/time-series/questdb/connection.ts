import * as http from 'node:http'
import * as https from 'node:https'
import type { Socket } from 'node:net'
import { messageOf } from '../../../core/errors.ts'
import type { StoreServer } from '../store-copy.ts'

/** How long an answer may take. */
const answerMsDefault = 30_000

/** Answers of a server, or of a proxy before it, that will be others soon: nobody knows what was done. */
const passingStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** An answer that is larger ends the request. */
const answerBytesMax = 64 * 1024 * 1024

/** What the server said when it did not do what it was asked for. */
export class QuestDbRefusal extends Error {
  override readonly name = 'QuestDbRefusal'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The server could not be asked, or has not answered: nobody knows what it has done. */
export class QuestDbAway extends Error {
  override readonly name = 'QuestDbAway'
}

/** There was more to an answer than one may hold in memory. */
export class QuestDbAnswerTooLarge extends Error {
  override readonly name = 'QuestDbAnswerTooLarge'
}

export interface QuestDbColumn {
  readonly name: string
  readonly type: string
}

/** Rows of an answer. Whole numbers of 64 bits are texts, times are RFC 3339, null is null. */
export interface QuestDbRows {
  readonly columns: readonly QuestDbColumn[]
  readonly rows: readonly (readonly unknown[])[]
}

export interface ConnectionOptions {
  /** TCP connections at a time. */
  readonly sockets: number
  /**
   * Whether one TCP connection has to do for all of its life. Who answers on it is one process of the
   * server: it has not been restarted meanwhile, so it still has what it took before.
   */
  readonly isPinned?: boolean
  /** How long an answer may take, where it is another time than usual. */
  readonly answerMs?: number
}

/** Connections to one server. */
export class QuestDbConnection {
  readonly server: StoreServer
  readonly #agent: http.Agent
  readonly #headers: Readonly<Record<string, string>>
  readonly #isPinned: boolean
  readonly #answerMs: number
  #pinned: Socket | undefined
  #opened = 0

  constructor(server: StoreServer, options: ConnectionOptions) {
    const { sockets, isPinned = false, answerMs = answerMsDefault } = options
    this.server = server
    this.#isPinned = isPinned
    this.#answerMs = answerMs
    const { Agent } = server.secure ? https : http
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets, scheduling: 'fifo' })
    const { user } = server
    const credentials = user && Buffer.from(`${user.name}:${user.password}`).toString('base64')
    this.#headers = credentials === undefined ? {} : { authorization: `Basic ${credentials}` }
  }

  /** TCP connections that there have been: on a new one another process may answer. */
  get opened(): number {
    return this.#opened
  }

  /**
   * Runs one statement.
   *
   * @throws QuestDbRefusal, QuestDbAway, QuestDbAnswerTooLarge
   */
  async run(sql: string, signal?: AbortSignal): Promise<QuestDbRows> {
    const path = `/exec?quoteLargeNum=true&timings=false&query=${encodeURIComponent(sql)}`
    const { status, body } = await this.#request({ method: 'GET', path, signal })
    this.#assertAnswers(status)
    const answer = parsed(body)
    if (status !== 200) throw new QuestDbRefusal(status, answer?.error ?? body.toString())
    const isDone = answer?.dataset ?? answer?.ddl ?? answer?.dml
    // Taken for an answer without rows it would say that nothing is stored.
    if (!answer || isDone === undefined || answer.error !== undefined) {
      throw this.#away(answer?.error ?? 'its answer is not one of QuestDB')
    }
    return { columns: answer.columns ?? [], rows: answer.dataset ?? [] }
  }

  /**
   * Sends rows in the line protocol: all of one table are committed, or none.
   *
   * @throws QuestDbRefusal, QuestDbAway
   */
  async write(lines: Uint8Array): Promise<void> {
    const { status, body } = await this.#request({ method: 'POST', path: '/write', body: lines })
    this.#assertAnswers(status)
    if (status !== 204) throw new QuestDbRefusal(status, body.toString())
  }

  /** Ends all connections, and what is under way on them. */
  close(): void {
    this.#agent.destroy()
  }

  /** Nothing has been sent yet: a new socket is still connecting. */
  #noteSocket(sent: http.ClientRequest, socket: Socket): void {
    if (socket.connecting) this.#opened++
    if (!this.#isPinned) return
    this.#pinned ??= socket
    if (socket !== this.#pinned) sent.destroy(new Error('the connection was lost'))
  }

  async #request({ method, path, body, signal }: Asked): Promise<Answer> {
    const { secure, host, port } = this.server
    const timeout = AbortSignal.timeout(this.#answerMs)
    const { request } = secure ? https : http
    try {
      return await new Promise((resolve, reject) => {
        const sent = request({
          method,
          host,
          port,
          path,
          agent: this.#agent,
          headers: {
            ...this.#headers,
            ...(body && { 'content-length': body.byteLength }),
          },
          signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        })
        // There may be more than one, also behind the answer.
        sent.on('error', reject)
        sent.once('socket', (socket) => this.#noteSocket(sent, socket))
        sent.once('response', (response) => resolve(collect(response)))
        sent.end(body)
      })
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof QuestDbAnswerTooLarge) throw error
      throw this.#away(reasonOf(error, this.#answerMs), error)
    }
  }

  /** What stands before a server says so when that is away, and a server that has too much to do. */
  #assertAnswers(status: number): void {
    if (passingStatuses.has(status)) throw this.#away(`it answers ${status}`)
  }

  #away(reason: string, cause?: unknown): QuestDbAway {
    const { host, port } = this.server
    return new QuestDbAway(`QuestDB at ${host}:${port} cannot be asked: ${reason}`, { cause })
  }
}

interface Asked {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: Uint8Array
  readonly signal?: AbortSignal | undefined
}

interface Answer {
  readonly status: number
  readonly body: Buffer
}

interface ExecAnswer {
  readonly columns?: readonly QuestDbColumn[]
  readonly dataset?: readonly (readonly unknown[])[]
  readonly error?: string
  /** What a statement without rows is answered with. */
  readonly ddl?: string
  readonly dml?: string
}

async function collect(response: http.IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > answerBytesMax) {
      throw new QuestDbAnswerTooLarge(`an answer has more than ${answerBytesMax} bytes`)
    }
    chunks.push(chunk)
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks, bytes) }
}

function parsed(body: Buffer): ExecAnswer | undefined {
  try {
    return JSON.parse(body.toString()) as ExecAnswer
  } catch {
    return undefined
  }
}

/** An abort by the clock says only that it was aborted. */
function reasonOf(error: unknown, answerMs: number): string {
  const isLate = error instanceof Error && error.name === 'AbortError'
  return isLate ? `no answer in ${answerMs / 1000} s` : messageOf(error)
}
