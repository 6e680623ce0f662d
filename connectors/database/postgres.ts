import type { EventEmitter } from 'node:events'
import { Client, type QueryArrayConfig, type QueryArrayResult } from 'pg'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { Poll } from '../../src/contracts/poll-connector.ts'
import type { Bound, Column, Dialect, Result, Session } from './dialect.ts'
import { GuardedSocket } from './guarded-socket.ts'
import type { DatabaseOptions } from './options.ts'
import { PostgresColumns } from './postgres-values.ts'

/** PostgreSQL over its own protocol, version 3. */
export const postgres: Dialect = {
  quoted: (name) => `"${name.replaceAll('"', '""')}"`,
  placeholder: (index) => `$${index + 1}`,
  limited: (rest, count) => `SELECT ${rest} LIMIT ${count}`,
  comparesPairs: true,
  connect: connectPostgres,
}

async function connectPostgres(
  options: DatabaseOptions,
  poll: Pick<Poll, 'dial' | 'signal'>,
): Promise<Session> {
  const { host, port, timeoutMs } = options
  const guarded = await GuardedSocket.open({ host, port }, poll, timeoutMs)
  const client = new Client(clientConfig(options, guarded))
  // What becomes of it is found when it is asked.
  client.on('error', () => undefined)
  connectionOf(client).on('dataRow', guarded.countRow)
  const session = new PostgresSession({ client, guarded, options })
  try {
    await session.begin()
    return session
  } catch (error) {
    await session[Symbol.asyncDispose]()
    throw error
  }
}

/** What the library takes messages of the server apart with: it does not say that it has it. */
function connectionOf(client: Client): EventEmitter {
  return (client as unknown as { readonly connection: EventEmitter }).connection
}

/**
 * Gives the library every option: it would take those that are missing from the environment of this
 * process.
 */
function clientConfig(options: DatabaseOptions, { socket }: GuardedSocket) {
  const { host, port, database, username, password, tls } = options
  // It is connected already.
  const connected = Object.assign(socket, {
    connect: () => {
      process.nextTick(() => socket.emit('connect'))
      return socket
    },
  })
  return {
    host: tls?.servername ?? host,
    port,
    database,
    user: username === '' ? 'streamvault' : username,
    password: () => password,
    ssl: tls ? { ca: tls.ca, rejectUnauthorized: true, minVersion: 'TLSv1.2' as const } : false,
    stream: () => connected,
    application_name: 'streamvault',
    options: '',
    client_encoding: 'UTF8',
  }
}

/** Texts as the server has written them: nothing is read that would lose digits. */
const asTexts = { getTypeParser: () => (text: string | Buffer) => text }

interface PostgresSessionNeeds {
  readonly client: Client
  readonly guarded: GuardedSocket
  readonly options: DatabaseOptions
}

class PostgresSession implements Session {
  readonly #needs: PostgresSessionNeeds
  readonly #columns: PostgresColumns

  constructor(needs: PostgresSessionNeeds) {
    this.#needs = needs
    this.#columns = new PostgresColumns(needs.options)
  }

  async begin(): Promise<void> {
    const { client, options } = this.#needs
    await this.#asked(async () => {
      await client.connect()
      await client.query(
        `SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY; SET TimeZone = 'UTC'; ` +
          `SET DateStyle = 'ISO, YMD'; SET bytea_output = 'hex'; SET IntervalStyle = 'iso_8601'; ` +
          `SET extra_float_digits = 1; SET statement_timeout = ${options.timeoutMs}`,
      )
    })
  }

  async describe(statement: string): Promise<readonly Column[]> {
    return (await this.read(statement, [])).columns
  }

  async read(statement: string, values: readonly Bound[]): Promise<Result> {
    const { fields, rows } = await this.#asked(() => this.#readOnly(statement, values))
    return { columns: this.#columns.of(fields), rows }
  }

  async nowUs(): Promise<number> {
    const { rows } = await this.read('SELECT extract(epoch FROM clock_timestamp()) * 1000000', [])
    return Math.floor(Number(rows[0]?.[0]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { client, guarded } = this.#needs
    guarded.socket.destroySoon()
    await client.end().catch(() => undefined)
    guarded.socket.destroy()
  }

  /** What the statement calls cannot get out of a transaction that has been begun as read-only. */
  async #readOnly(text: string, values: readonly Bound[]) {
    const { client } = this.#needs
    await client.query('BEGIN TRANSACTION READ ONLY')
    const asked: QueryArrayConfig & { readonly queryMode: string } = {
      text,
      values: values.map((value) => value.text),
      rowMode: 'array',
      types: asTexts,
      // Takes one statement only.
      queryMode: 'extended',
    }
    const result: QueryArrayResult<(string | null)[]> = await client.query(asked)
    await client.query('ROLLBACK')
    return result
  }

  async #asked<Value>(ask: () => Promise<Value>): Promise<Value> {
    try {
      return await this.#needs.guarded.answer(ask())
    } catch (error) {
      throw judged(error as Error & { readonly code?: string })
    }
  }
}

/**
 * Classes of SQLSTATE that somebody has to mend: of the statement (42, 22, 0A, 25, 21), of the user (28), of the
 * database (3D, 3F). PostgreSQL, Appendix A.
 */
const refusals: readonly string[] = ['42', '22', '0A', '25', '21', '28', '3D', '3F']

function judged(error: Error & { readonly code?: string }): Error {
  const { code = '', message } = error
  if (/^[0-9A-Z]{5}$/.test(code) && refusals.includes(code.slice(0, 2))) {
    return new SourceRefused(message, { cause: error })
  }
  return error
}
