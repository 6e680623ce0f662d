import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Client, QueryConfig, QueryResult } from 'pg'
import type { DialedTls, FetchRun } from '../../src/contracts/fetch-connector.ts'
import { race } from '../../src/core/race.ts'
import type { PostgresLogOptions } from './options.ts'

/** Time for a server to let us in, and to answer a question about its catalogue. */
const answerMs = 30_000

/** Time for a connection to end in good order: only then the server lets go of the slot. */
const endMs = 1_000

/** Bytes of one message of a server: a row of this size would have to be in memory several times. */
const messageBytesMax = 64 * 1024 * 1024

/**
 * The texts of values do not depend on the settings of a server or of its users. The server is not to take us
 * for dead while the journal is slow: our word comes every ten seconds.
 */
const sessionSettings = [
  "SET datestyle TO 'ISO'",
  "SET intervalstyle TO 'iso_8601'",
  "SET timezone TO 'UTC'",
  "SET bytea_output TO 'hex'",
  'SET extra_float_digits TO 1',
  'SET statement_timeout TO 0',
  "SET wal_sender_timeout TO '60s'",
].join('; ')

/** Who hears what a server sends of its log. */
export interface LogListener {
  /** A message of the streaming replication protocol. It may be kept only as a copy. */
  hear(message: Buffer): void
  /** All that has arrived so far was heard. */
  pause(): void
}

/** What `pg` has and its types do not say. */
interface Wire extends NodeJS.EventEmitter {
  readonly stream: Socket
  end(): void
  sendCopyFromChunk(chunk: Buffer): void
}

/** One connection that a server sends its log over; until then it answers questions. */
export class ReplicationConnection {
  readonly #client: Client
  readonly #ended = Promise.withResolvers<never>()
  #isEnding = false

  /** @throws Error of the server, or of the network */
  static async open(
    options: PostgresLogOptions,
    { dial, signal }: Pick<FetchRun, 'dial' | 'signal'>,
  ): Promise<ReplicationConnection> {
    const { Client } = await import('pg')
    const { host, port, database, user, password, tls } = options
    const socket = await dial({ host, port, signal })
    const client = new Client({
      // The host is the name that a certificate has to have: the library connects to nowhere by
      // itself.
      host: tls?.servername ?? host,
      port,
      database,
      user,
      // A function gives the password, for an empty one would be looked for in files and variables
      // of this machine.
      password: () => password,
      ssl: tls === undefined ? false : securedBy(tls),
      stream: () => connected(socket),
      application_name: 'streamvault',
      // Options are given in any case: those that are missing are looked for in variables of this
      // machine.
      options: '-c client_encoding=UTF8',
      sslnegotiation: 'postgres',
      connectionTimeoutMillis: answerMs,
      ...({ replication: 'database' } as object),
    })
    const connection = new ReplicationConnection(client, socket)
    const giveUp = () => socket.destroy()
    signal.addEventListener('abort', giveUp)
    try {
      signal.throwIfAborted()
      await client.connect()
      await connection.query(sessionSettings)
      return connection
    } catch (error) {
      socket.destroy()
      throw error
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  private constructor(client: Client, socket: Socket) {
    this.#client = client
    const { reject } = this.#ended
    // Nobody may be waiting for it at the time.
    this.#ended.promise.catch(() => undefined)
    client.on('error', reject)
    client.on('end', () => reject(new Error('the server has closed the connection')))
    socket.on('error', reject)
  }

  /** Rejects when the connection has ended, with the reason as far as it is known. */
  get ended(): Promise<never> {
    return this.#ended.promise
  }

  get #wire(): Wire {
    return (this.#client as unknown as { readonly connection: Wire }).connection
  }

  /**
   * Rows by the names of their columns. Of several statements those of the last one.
   *
   * @param patienceMs how long an answer may take
   */
  async query(text: string, patienceMs = answerMs): Promise<readonly Record<string, unknown>[]> {
    const result = await this.#answer(this.#client.query(text), patienceMs)
    return Array.isArray(result) ? (result.at(-1)?.rows ?? []) : result.rows
  }

  /** Rows with the texts that the server has sent. */
  async texts(text: string): Promise<QueryResult<Record<string, unknown>>> {
    const types = { getTypeParser: () => (value: string) => value }
    return await this.#answer(this.#client.query({ text, types } as QueryConfig), answerMs)
  }

  /** Has the server send its log, until the connection ends. @throws Error when it does not */
  async follow(command: string, listener: LogListener): Promise<void> {
    const wire = this.#wire
    let unheard = 0
    wire.on('copyData', ({ chunk }: { readonly chunk: Buffer }) => {
      unheard = 0
      this.#guarded(() => listener.hear(chunk))
    })
    // Messages that are complete in what has arrived were heard before this.
    wire.stream.on('data', (bytes: Buffer) => {
      unheard += bytes.length
      if (unheard > messageBytesMax) this.fail(new Error(tooLarge))
      else this.#guarded(() => listener.pause())
    })
    const started = once(wire, 'replicationStart', { signal: AbortSignal.timeout(answerMs) })
    const over = this.#client.query(command).then(() => {
      throw new Error('the server has ended the replication: it may be shutting down')
    })
    over.catch((error: Error) => this.fail(error))
    await race([started, over, this.ended])
  }

  send(message: Buffer): void {
    this.#wire.sendCopyFromChunk(message)
  }

  /** Whether more is read from the network. */
  flow(isFlowing: boolean): void {
    const { stream } = this.#wire
    if (isFlowing === !stream.isPaused()) return
    if (isFlowing) stream.resume()
    else stream.pause()
  }

  /** Ends it for a reason. */
  fail(reason: Error): void {
    this.#ended.reject(reason)
    this.destroy()
  }

  /** Says good-bye, or breaks the connection when nobody listens. */
  async end(): Promise<void> {
    if (this.#isEnding) return
    this.#isEnding = true
    const { stream } = this.#wire
    if (!stream.destroyed) {
      const patience = setTimeout(() => stream.destroy(), endMs)
      const closed = once(stream, 'close')
      stream.resume()
      this.#wire.end()
      await closed.catch(() => undefined)
      clearTimeout(patience)
    }
  }

  destroy(): void {
    this.#wire.stream.destroy()
  }

  async #answer<Value>(answer: Promise<Value>, patienceMs: number): Promise<Value> {
    const silence = Promise.withResolvers<never>()
    const giveUp = () => {
      silence.reject(new Error('the server has not answered in time'))
      this.destroy()
    }
    const patience = setTimeout(giveUp, patienceMs)
    try {
      return await race([answer, this.ended, silence.promise])
    } finally {
      clearTimeout(patience)
    }
  }

  /** What is thrown while bytes are read would be nobody's. */
  #guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.fail(error as Error)
    }
  }
}

const tooLarge = `one row of the table is larger than ${messageBytesMax / 1024 ** 2} MiB: leave its large column out of the publication`

function securedBy({ ca }: DialedTls) {
  return { minVersion: 'TLSv1.2' as const, ...(ca !== undefined && { ca }) }
}

/** A connected socket for a library that wants to connect it by itself. */
function connected(socket: Socket): Socket {
  socket.connect = () => {
    setImmediate(() => socket.emit('connect'))
    return socket
  }
  return socket
}
