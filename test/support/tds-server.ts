import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { freePort } from '../../scripts/servers/free-port.ts'
import type { TestCertificate } from './certificate.ts'
import * as tds from './tds-messages.ts'
import { encrypted } from './tds-tls.ts'

/** A column, and its value in a row: as text where the column is asked for as text, else in bytes. */
export interface TdsColumn {
  readonly name: string
  readonly type: Buffer
}

export type TdsRow = Readonly<Record<string, string | Buffer>>

export interface TdsFailure {
  readonly number: number
  readonly severity: number
  readonly message: string
}

/** Statements that pages are read with, in the order of `at` and `id`. */
const page =
  /^BEGIN TRANSACTION;\nSELECT TOP \((\d+)\) (.+) FROM \(\n(.+)\n\) AS streamvault_rows(?: WHERE (.+) ORDER BY \[at\], \[id\])?;\nROLLBACK TRANSACTION$/s

const [at, id] = ['CONVERT(datetime2(7), @p, 121)', 'CONVERT(bigint, @p)']

/** What a page may be behind of. */
const behind = `[at] >= ${at} AND ([at] > ${at} OR [id] > ${id})`

/** A simulator of SQL Server with one table, and what of T-SQL the connector writes. */
export class TdsServer implements AsyncDisposable {
  readonly port: number
  readonly credentials = { username: 'reader', password: 'Tr0ub4dor&3' }
  readonly statements: string[] = []
  /** What sets up a session. */
  readonly batches: string[] = []
  columns: readonly TdsColumn[] = []
  rows: TdsRow[] = []
  /** What each statement is answered with, instead of rows. */
  failure: TdsFailure | undefined
  /** Where clients are sent on to. */
  route: { readonly host: string; readonly port: number } | undefined
  /** With it, nobody is let in without TLS. */
  certificate: TestCertificate | undefined
  hangs = false
  /** How many have shown a password, right or wrong. */
  logins = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  static async start(): Promise<TdsServer> {
    const server = new TdsServer(await freePort())
    await once(server.#server, 'listening')
    return server
  }

  private constructor(port: number) {
    this.port = port
    this.#server = createServer((socket) => this.#serve(socket)).listen(port, '127.0.0.1')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#sockets.size
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => this.#sockets.delete(socket))
    const { certificate } = this
    if (!certificate) {
      this.#listen(socket)
      return
    }
    socket.once('data', () => {
      socket.write(tds.packets(tds.prelogin(true)))
      this.#listen(encrypted(socket, certificate))
    })
  }

  #listen(stream: Duplex): void {
    const reader = new tds.MessageReader()
    stream.on('data', (chunk: Buffer) => {
      for (const message of reader.read(chunk)) {
        const answer = this.#answer(message)
        if (answer) stream.write(tds.packets(answer))
      }
    })
  }

  #answer({ type, body }: tds.Message): Buffer | undefined {
    switch (type) {
      case tds.messageTypes.login:
        return this.#login(body)
      case tds.messageTypes.batch:
        this.batches.push(body.toString('utf16le', body.readUInt32LE(0)))
        return tds.done()
      case tds.messageTypes.call: {
        const [statement, , ...values] = tds.callOf(body)
        this.statements.push(String(statement))
        return this.hangs ? undefined : this.#result(String(statement), values)
      }
      case tds.messageTypes.attention:
        return undefined
      default:
        return tds.prelogin(false)
    }
  }

  #login(body: Buffer): Buffer {
    this.logins++
    const [username, password] = tds.loginOf(body)
    if (username !== this.credentials.username || password !== this.credentials.password) {
      return this.#failed(18_456, 14, `Login failed for user '${username}'.`)
    }
    const route = this.route ? [tds.routing(this.route.host, this.route.port)] : []
    return Buffer.concat([tds.loginAck(), ...route, tds.done()])
  }

  #result(statement: string, values: readonly (string | number)[]): Buffer {
    const { failure } = this
    if (failure) return this.#failed(failure.number, failure.severity, failure.message)
    if (statement.includes('DATEDIFF_BIG')) return this.#now()
    const [, count = '0', list = '', , condition] = page.exec(statement) ?? []
    if (list === '') return this.#failed(102, 15, `Incorrect syntax near '${statement}'.`)
    if (list === '*') {
      // The library would read such values in its own way.
      if (count !== '0') return this.#failed(50_000, 16, 'columns were to be named')
      return Buffer.concat([tds.columns(this.columns), tds.done()])
    }
    const found = this.#found(condition, values)
    if (!found) return this.#failed(102, 15, `Incorrect syntax near '${condition}'.`)
    const shown = this.columns.map(({ name, type }) => {
      const asText = new RegExp(`CONVERT\\(nvarchar\\(\\d+\\), [^[]*\\[${name}\\]`)
      return { name: '', type: asText.test(list) ? tds.types.text : type }
    })
    const rows = found.slice(0, Number(count)).map((row) => tds.row(this.#values(row)))
    return Buffer.concat([tds.columns(shown), ...rows, tds.done()])
  }

  #values(row: TdsRow): readonly Buffer[] {
    return this.columns.map(({ name, type }) => {
      const value = row[name] ?? ''
      const bytes = typeof value === 'string' ? Buffer.from(value, 'utf16le') : value
      const isLong = typeof value === 'string' || type === tds.types.binary
      return isLong ? tds.longValue(bytes) : tds.shortValue(bytes)
    })
  }

  /** Rows in order, behind the place that is named by a condition. */
  #found(condition: string | undefined, values: readonly (string | number)[]) {
    const ordered = this.rows.toSorted(
      (one, other) => order(one['at'], other['at']) || Number(numberOf(one) - numberOf(other)),
    )
    if (condition === undefined || condition === '[at] IS NOT NULL') return ordered
    if (condition.replaceAll(/@p\d/g, '@p') !== behind) return undefined
    const [time, , number] = values
    return ordered.filter((row) => {
      const compared = order(row['at'], String(time))
      return compared > 0 || (compared === 0 && numberOf(row) > BigInt(String(number)))
    })
  }

  #now(): Buffer {
    const column = { name: '', type: tds.types.bigint }
    const value = bigint(BigInt(Date.now()) * 1_000n)
    return Buffer.concat([tds.columns([column]), tds.row([tds.shortValue(value)]), tds.done()])
  }

  #failed(number: number, severity: number, message: string): Buffer {
    const hasFailed = 0x02
    return Buffer.concat([tds.failure(number, severity, message), tds.done(hasFailed)])
  }
}

export function bigint(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return bytes
}

function numberOf({ id: number }: TdsRow): bigint {
  return (number as Buffer).readBigInt64LE()
}

function order(one: string | Buffer | undefined, other: string | Buffer | undefined): number {
  return String(one) < String(other) ? -1 : Number(String(one) > String(other))
}
