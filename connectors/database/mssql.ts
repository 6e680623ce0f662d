import { Connection, type ConnectionConfiguration, Request, TYPES } from 'tedious'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { Poll } from '../../src/contracts/poll-connector.ts'
import { keepByteOrderMarks } from '../byte-order-marks.ts'
import type { Bound, Column, Dialect, Raw, Result, Session } from './dialect.ts'
import { GuardedSocket } from './guarded-socket.ts'
import {
  bracketed,
  converted,
  type MssqlColumn,
  MssqlColumns,
  type MssqlField,
} from './mssql-values.ts'
import type { DatabaseOptions } from './options.ts'

/** Time for the server to confirm that it has given up a statement. */
const cancelMs = 1_000

/** SQL Server, over TDS 7.4. */
export const mssql: Dialect = {
  quoted: bracketed,
  placeholder: (index, kind, type) => converted(`@p${index}`, kind, type),
  limited: (rest, count) => `SELECT TOP (${count}) ${rest}`,
  // T-SQL has no pairs.
  comparesPairs: false,
  connect: connectMssql,
}

async function connectMssql(
  options: DatabaseOptions,
  poll: Pick<Poll, 'dial' | 'signal'>,
): Promise<Session> {
  const { host, port, timeoutMs } = options
  keepByteOrderMarks('tedious')
  const guarded = await GuardedSocket.open({ host, port }, poll, timeoutMs)
  const way = new OnlyWay(guarded)
  const connection = new Connection(configOf(options, way))
  const session = new MssqlSession({ connection, guarded, options })
  try {
    await session.begin()
    return session
  } catch (error) {
    await session[Symbol.asyncDispose]()
    throw way.refusal ?? error
  }
}

/** The library connects where a server sends it on to, and to another port that it asks for by UDP: neither is done. */
class OnlyWay {
  readonly #guarded: GuardedSocket
  #isTaken = false
  refusal: SourceRefused | undefined

  constructor(guarded: GuardedSocket) {
    this.#guarded = guarded
  }

  readonly socket = async () => {
    if (!this.#isTaken) {
      this.#isTaken = true
      return this.#guarded.socket
    }
    this.refusal = new SourceRefused(
      'the server sends us on to another one: name that one as the endpoint',
    )
    throw this.refusal
  }
}

function configOf(options: DatabaseOptions, way: OnlyWay): ConnectionConfiguration {
  const { host, port, database, username, password, timeoutMs, tls } = options
  return {
    server: host,
    authentication: { type: 'default', options: { userName: username, password } },
    options: {
      port,
      database,
      connector: way.socket,
      connectTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      cancelTimeout: cancelMs,
      maxRetriesOnTransientErrors: 0,
      appName: 'streamvault',
      // The default is the name of this machine.
      workstationId: 'streamvault',
      // A server that does not want it is left at once, so nobody in between can talk us out of it.
      encrypt: tls !== undefined,
      trustServerCertificate: false,
      serverName: tls?.servername ?? host,
      cryptoCredentialsDetails: {
        minVersion: 'TLSv1.2',
        ...(tls?.ca !== undefined && { ca: tls.ca }),
      },
      // What fails in a transaction ends it.
      abortTransactionOnError: true,
    },
  }
}

/** What the server says of an error: its number is what tells them apart. */
interface ServerError {
  readonly number: number
  readonly class: number
  readonly message: string
}

interface MssqlSessionNeeds {
  readonly connection: Connection
  readonly guarded: GuardedSocket
  readonly options: DatabaseOptions
}

class MssqlSession implements Session {
  readonly #needs: MssqlSessionNeeds
  readonly #types: MssqlColumns
  #serverErrors: ServerError[] = []
  #described: readonly MssqlColumn[] = []

  constructor(needs: MssqlSessionNeeds) {
    this.#needs = needs
    const { options, connection } = needs
    this.#types = new MssqlColumns(options)
    // What becomes of it is found when it is asked.
    connection.on('error', () => undefined)
    connection.on('errorMessage', (error) => this.#serverErrors.push(error))
  }

  async begin(): Promise<void> {
    const { connection, options } = this.#needs
    await this.#asked((done) => connection.connect(done))
    await this.#asked((done) => {
      const statement = `SET LOCK_TIMEOUT ${options.timeoutMs}`
      connection.execSqlBatch(new Request(statement, done))
    })
  }

  async describe(statement: string): Promise<readonly Column[]> {
    const { fields } = await this.#run(statement, [])
    this.#described = this.#types.of(fields)
    return this.#described
  }

  /** Columns that are read have no names, so that the order is by those of the query, and not by what is read. */
  async read(statement: string, values: readonly Bound[]): Promise<Result> {
    const expressions = this.#described.map(({ expression }) => expression).join(', ')
    const isWhole = /^SELECT TOP \(\d+\) \*/.test(statement)
    const { fields, rows } = await this.#run(
      isWhole ? statement.replace('*', () => expressions) : statement,
      values,
    )
    return { columns: isWhole ? this.#described : this.#types.of(fields), rows }
  }

  async nowUs(): Promise<number> {
    const statement = "SELECT DATEDIFF_BIG(MICROSECOND, '1970-01-01', SYSUTCDATETIME())"
    const { rows } = await this.#run(statement, [])
    return Number(rows[0]?.[0])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { connection, guarded } = this.#needs
    connection.close()
    guarded.socket.destroy()
  }

  /** Runs a statement in a transaction that is rolled back. */
  async #run(statement: string, values: readonly Bound[]) {
    const fields: MssqlField[] = []
    const rows: Raw[][] = []
    await this.#asked((done) => {
      const undone = `BEGIN TRANSACTION;\n${statement};\nROLLBACK TRANSACTION`
      const request = new Request(undone, done)
      this.#bind(request, values)
      request.on('columnMetadata', (columns) => fields.push(...(columns as MssqlField[])))
      request.on('row', (row: readonly { readonly value: unknown }[]) => {
        rows.push(row.map(({ value }) => rawOf(value)))
      })
      this.#needs.connection.execSql(request)
    })
    return { fields, rows }
  }

  #bind(request: Request, values: readonly Bound[]): void {
    for (const [index, { text, kind }] of values.entries()) {
      if (kind === 'float') request.addParameter(`p${index}`, TYPES.Float, Number(text))
      else request.addParameter(`p${index}`, TYPES.NVarChar, text)
    }
  }

  async #asked(ask: (done: (error?: Error | null) => void) => void): Promise<void> {
    this.#serverErrors = []
    try {
      await this.#needs.guarded.answer(
        new Promise<void>((resolve, reject) => {
          ask((error) => (error ? reject(error) : resolve()))
        }),
      )
    } catch (error) {
      throw judged(error as Error, this.#serverErrors)
    }
  }
}

function rawOf(value: unknown): Raw {
  return typeof value === 'boolean' ? Number(value) : (value as Raw)
}

/** Errors that somebody has to mend. Those of syntax have a class of their own. */
const refusals = {
  names: [207, 208, 4104, 4121],
  rights: [229, 230, 262, 297, 300, 916],
  logins: [4060, 4064, 18_450, 18_452, 18_456, 18_470, 18_486, 18_487, 18_488],
  parentheses: [1033, 8155, 8156],
  values: [220, 241, 242, 245, 8114, 8115, 8134],
  functions: [174, 189, 195],
} as const

const refused: ReadonlySet<number> = new Set(Object.values(refusals).flat())

const syntaxClass = 15

function judged(error: Error, serverErrors: readonly ServerError[]): Error {
  const refusal = serverErrors.find((one) => one.class === syntaxClass || refused.has(one.number))
  if (refusal) return new SourceRefused(refusal.message, { cause: error })
  const problem = encryptionProblem(error)
  if (problem !== undefined) return new SourceRefused(problem, { cause: error })
  return error instanceof AggregateError
    ? new Error(serverErrors[0]?.message, { cause: error })
    : error
}

function encryptionProblem({ message }: Error): string | undefined {
  if (message.startsWith('Server requires encryption')) {
    return 'the server takes no clients without TLS: set tls'
  }
  const hasNone = message.startsWith('Server did not negotiate encryption')
  return hasNone ? 'the server has no TLS, and tls is set' : undefined
}
