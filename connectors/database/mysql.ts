import { type Connection, createConnection } from 'mysql2/promise'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { Poll } from '../../src/contracts/poll-connector.ts'
import type { Bound, Column, ColumnKind, Dialect, Raw, Result, Session } from './dialect.ts'
import { GuardedSocket } from './guarded-socket.ts'
import { MysqlColumns } from './mysql-values.ts'
import type { DatabaseOptions } from './options.ts'

/**
 * Casts of numbers: texts would be compared as floating-point numbers, or without the help of an
 * index.
 */
const placeholders: Partial<Record<ColumnKind, string>> = {
  number: 'CAST(? AS DECIMAL(65,30))',
  date: 'CAST(? AS DATE)',
  naive: 'CAST(? AS DATETIME(6))',
  time: 'CAST(? AS DATETIME(6))',
}

/** MySQL and MariaDB. Values are bound by the server, in prepared statements. */
export const mysql: Dialect = {
  quoted: (name) => `\`${name.replaceAll('`', '``')}\``,
  placeholder: (_, kind) => placeholders[kind] ?? '?',
  limited: (rest, count) => `SELECT ${rest} LIMIT ${count}`,
  // Pairs are looked for in the whole table.
  comparesPairs: false,
  connect: connectMysql,
}

async function connectMysql(
  options: DatabaseOptions,
  poll: Pick<Poll, 'dial' | 'signal'>,
): Promise<Session> {
  const { host, port, timeoutMs, tls } = options
  if (tls && tls.servername === undefined) {
    throw new SourceRefused('tls.servername is needed, as the endpoint has an address for a name')
  }
  const guarded = await GuardedSocket.open({ host, port }, poll, timeoutMs)
  try {
    const connection = await guarded.answer(createConnection(configOf(options, guarded)))
    // What becomes of it is found when it is asked.
    connection.on('error', () => undefined)
    countPackets(connection, guarded)
    const session = new MysqlSession({ connection, guarded, options })
    await session.begin()
    return session
  } catch (error) {
    guarded.socket.destroy()
    throw judged(error as Error)
  }
}

/**
 * Counts rows, each of which is a packet: the library collects them, and tells nobody before the
 * last one.
 */
function countPackets(connection: Connection, guarded: GuardedSocket): void {
  const { connection: core } = connection as unknown as {
    readonly connection: { handlePacket: (packet: unknown) => void }
  }
  const handle = core.handlePacket.bind(core)
  core.handlePacket = (packet) => {
    guarded.countRow()
    handle(packet)
  }
}

function configOf(options: DatabaseOptions, { socket }: GuardedSocket) {
  const { host, port, database, username, password, tls } = options
  return {
    host: tls?.servername ?? host,
    port,
    database,
    user: username,
    password,
    ...(tls && {
      ssl: {
        ...(tls.ca !== undefined && { ca: tls.ca }),
        rejectUnauthorized: true,
        verifyIdentity: true,
        minVersion: 'TLSv1.2',
      },
    }),
    stream: () => socket,
    // A server may ask for any file of this machine else.
    flags: ['-LOCAL_FILES'],
    // The server names the columns: no code is made of that.
    disableEval: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    timezone: 'Z' as const,
  }
}

interface MysqlSessionNeeds {
  readonly connection: Connection
  readonly guarded: GuardedSocket
  readonly options: DatabaseOptions
}

class MysqlSession implements Session {
  readonly #needs: MysqlSessionNeeds
  readonly #columns: MysqlColumns

  constructor(needs: MysqlSessionNeeds) {
    this.#needs = needs
    this.#columns = new MysqlColumns(needs.options)
  }

  async begin(): Promise<void> {
    const { timeoutMs } = this.#needs.options
    const [version] = await this.#texts('SELECT VERSION()')
    const limit = version?.includes('MariaDB')
      ? `max_statement_time = ${timeoutMs / 1_000}`
      : `max_execution_time = ${timeoutMs}`
    await this.#texts(`SET time_zone = '+00:00', ${limit}`)
    await this.#texts('SET SESSION TRANSACTION READ ONLY')
  }

  async describe(statement: string): Promise<readonly Column[]> {
    return (await this.read(statement, [])).columns
  }

  /** What the statement calls cannot get out of a transaction that has been begun as read-only. */
  async read(statement: string, values: readonly Bound[]): Promise<Result> {
    await this.#texts('START TRANSACTION READ ONLY')
    const bound = values.map(({ text, kind }) => (kind === 'float' ? Number(text) : text))
    const asked = this.#needs.connection.execute({ sql: statement, rowsAsArray: true }, bound)
    const [rows, fields] = await this.#asked(asked)
    await this.#texts('ROLLBACK')
    return {
      columns: this.#columns.of(fields),
      rows: rows as unknown as Raw[][],
    }
  }

  async nowUs(): Promise<number> {
    const [seconds] = await this.#texts('SELECT UNIX_TIMESTAMP(SYSDATE(6))')
    return Math.floor(Number(seconds) * 1e6)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { connection, guarded } = this.#needs
    connection.destroy()
    guarded.socket.destroy()
  }

  /** The first row of a statement of our own. */
  async #texts(sql: string): Promise<readonly string[]> {
    const [rows] = await this.#asked(this.#needs.connection.query({ sql, rowsAsArray: true }))
    const [row] = Array.isArray(rows) ? (rows as unknown as Raw[][]) : []
    return (row ?? []).map(String)
  }

  async #asked<Value>(asked: Promise<Value>): Promise<Value> {
    try {
      return await this.#needs.guarded.answer(asked)
    } catch (error) {
      throw judged(error as Error)
    }
  }
}

/** Classes of SQLSTATE that somebody has to mend: of the statement (42, 22, 21), of rights (25, 28). */
const refusals: readonly string[] = ['42', '22', '21', '25', '28']

/**
 * Errors that pass: too many connections of one user (ER_TOO_MANY_USER_CONNECTIONS,
 * ER_USER_LIMIT_REACHED).
 */
const passing: readonly number[] = [1203, 1226]

function judged(error: Error & { readonly sqlState?: string; readonly errno?: number }): Error {
  const { sqlState = '', errno = 0, message } = error
  const isRefusal = refusals.includes(sqlState.slice(0, 2)) && !passing.includes(errno)
  return isRefusal ? new SourceRefused(message, { cause: error }) : error
}
