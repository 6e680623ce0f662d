import type { Socket } from 'node:net'
import type { FetchRun } from '../../src/contracts/fetch-connector.ts'
import type { RedisStreamOptions } from './options.ts'
import { ErrorReply, type Reply, ReplyReader } from './replies.ts'

/** Time for an answer, beside that for which the server was told to wait. */
const answerMs = 15_000

/** An error that a server answers with: its first word is its code. */
export class RedisError extends Error {
  override readonly name = 'RedisError'
  readonly code: string

  constructor(text: string) {
    super(text)
    this.code = text.split(' ', 1)[0] ?? ''
  }
}

interface Asked {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
  readonly patienceMs: number
}

/** One connection: questions are answered in their order. It is the caller who does not ask too much at once. */
export class RedisConnection {
  readonly #socket: Socket
  readonly #asked: Asked[] = []
  #failure: Error | undefined
  #patience: NodeJS.Timeout | undefined

  /** @throws RedisError, or an Error of the network */
  static async open(
    options: RedisStreamOptions,
    { dial, signal }: Pick<FetchRun, 'dial' | 'signal'>,
  ): Promise<RedisConnection> {
    const { host, port, tls, username, password, database } = options
    const connection = new RedisConnection(await dial({ host, port, tls, signal }))
    const giveUp = () => connection.fail(new Error('the run was ended'))
    signal.addEventListener('abort', giveUp)
    try {
      signal.throwIfAborted()
      const names = username === undefined ? [] : [username]
      if (password !== undefined) await connection.ask(['AUTH', ...names, password])
      if (database !== 0) await connection.ask(['SELECT', database])
      return connection
    } catch (error) {
      connection.end()
      throw error
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  private constructor(socket: Socket) {
    this.#socket = socket
    const reader = new ReplyReader((reply) => this.#answered(reply))
    socket.on('data', (chunk: Buffer) => {
      if (this.#failure !== undefined) return
      try {
        reader.read(chunk)
      } catch (error) {
        this.fail(error as Error)
      }
    })
    socket.on('error', (error) => this.fail(error))
    socket.on('close', () => this.fail(new Error('the server has closed the connection')))
  }

  /**
   * @param blockMs how long the server was told to wait before it answers
   * @throws RedisError that the server answers with; Error when the connection has ended
   */
  async ask(words: readonly (string | number)[], blockMs = 0): Promise<Reply> {
    if (this.#failure !== undefined) throw this.#failure
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    this.#asked.push({ resolve, reject, patienceMs: answerMs + blockMs })
    if (this.#asked.length === 1) this.#bePatient()
    this.#socket.write(commandOf(words))
    return await promise
  }

  /** Ends it for a reason: the first one is told to all who wait for an answer. */
  fail(reason: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = reason
    clearTimeout(this.#patience)
    this.#socket.destroy()
    for (const { reject } of this.#asked.splice(0)) reject(reason)
  }

  end(): void {
    this.fail(new Error('the connection was ended'))
  }

  #answered(reply: Reply): void {
    const error = reply instanceof ErrorReply ? new RedisError(reply.text) : undefined
    const asked = this.#asked.shift()
    // A server with too many clients says so, and hangs up.
    if (asked === undefined) throw error ?? new Error('the server answers what it was not asked')
    this.#bePatient()
    if (error === undefined) asked.resolve(reply)
    else asked.reject(error)
  }

  #bePatient(): void {
    clearTimeout(this.#patience)
    const [next] = this.#asked
    if (next === undefined) return
    const giveUp = () => this.fail(new Error('the server has not answered in time'))
    this.#patience = setTimeout(giveUp, next.patienceMs)
  }
}

function commandOf(words: readonly (string | number)[]): string {
  const parts = words.map((word) => {
    const text = String(word)
    return `$${Buffer.byteLength(text)}\r\n${text}\r\n`
  })
  return `*${words.length}\r\n${parts.join('')}`
}
