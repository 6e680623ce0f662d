import { isIP } from 'node:net'
import { sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import { type DialedTls, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { timeNameOf } from '../../src/contracts/time-member.ts'
import { databaseProtocols, type PolledSource, polledSource } from './source.ts'

type Json = Readonly<Record<string, unknown>>

export type Protocol = (typeof databaseProtocols)[number]

/** Ports where an endpoint names none; a file has none. */
const standardPorts: Readonly<Record<Protocol, number>> = {
  postgres: 5432,
  mysql: 3306,
  mariadb: 3306,
  sqlite: 0,
  mssql: 1433,
}

export interface DatabaseAddress {
  readonly host: string
  readonly port: number
  /** Name of the database, or the path of a file. */
  readonly database: string
}

/** How far behind the last row one may come that was committed late. */
export interface LookBehindRule {
  /** Time after its own in which a row may still come, for columns of times. */
  readonly us: number | undefined
  /** Rows with greater values that may come before it, for other columns. */
  readonly rows: number | undefined
}

export interface DatabaseOptions extends DatabaseAddress {
  readonly protocol: Protocol
  readonly username: string
  readonly password: string
  /** Undefined: without. */
  readonly tls: DialedTls | undefined
  readonly query: string
  readonly incremental: string | undefined
  readonly key: string | undefined
  readonly lookBehind: LookBehindRule
  /** Zone of times that name none. */
  readonly timezone: string
  readonly refusesNulls: boolean
  readonly timeoutMs: number
  readonly pageSize: number
  readonly timestampField: string
}

/** What says how times without a zone are read. */
export type TimeOptions = Pick<DatabaseOptions, 'timezone' | 'timestampField'>

const defaults = { lookBehindUs: 30_000_000, lookBehindRows: 1_000 }

/** Reads `host:port/database`, or the path of a file. */
export function parseAddress(protocol: Protocol, endpoint: string): DatabaseAddress {
  if (protocol === 'sqlite') return { host: '', port: 0, database: endpoint }
  const parts = /^(\[[^\]]+\]|[^/:]+)(?::(\d+))?\/(.+)$/.exec(endpoint)
  if (!parts) throw new SourceRefused('the endpoint must be host:port/database')
  const [, host = '', port, database = ''] = parts
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port: port === undefined ? standardPorts[protocol] : Number(port),
    database,
  }
}

export function databaseOptions(given: Json): DatabaseOptions {
  const source = sourceOf(polledSource, given)
  const { credentials, lookBehind } = source
  const protocol = databaseProtocols.find((known) => known === source.protocol)
  if (protocol === undefined) throw new SourceRefused('the source names no database')
  const address = parseAddress(protocol, source.endpoint)
  return {
    ...address,
    protocol,
    username: credentials?.username ?? '',
    password: credentials?.password ?? '',
    tls: tlsOf(source.tls, address.host),
    query: withoutEnd(source.query),
    incremental: source.incrementalColumn,
    key: source.keyColumn,
    lookBehind: {
      us: typeof lookBehind === 'number' ? undefined : usOf(lookBehind, defaults.lookBehindUs),
      rows: typeof lookBehind === 'string' ? undefined : (lookBehind ?? defaults.lookBehindRows),
    },
    timezone: source.timezone,
    refusesNulls: source.nulls === 'refuse',
    timeoutMs: usOf(source.statementTimeout, 0) / 1_000,
    pageSize: source.pageSize,
    timestampField: timeNameOf(source),
  }
}

/** A statement without what may end it. A regular expression would look for that end from each space on. */
function withoutEnd(statement: string): string {
  let text = statement.trimEnd()
  while (text.endsWith(';')) text = text.slice(0, -1).trimEnd()
  return text
}

function tlsOf(tls: PolledSource['tls'], host: string): DialedTls | undefined {
  if (tls === undefined || tls === false) return undefined
  const { ca, servername } = tls === true ? {} : tls
  return { ca, servername: servername ?? (isIP(host) === 0 ? host : undefined) }
}

/** Microseconds of a duration, which may be none: `0s` looks behind nothing. */
function usOf(duration: string | undefined, usual: number): number {
  if (duration === undefined) return usual
  return Number(duration.slice(0, -1)) * (unitsUs[duration.slice(-1)] ?? 0)
}

const unitsUs: Readonly<Record<string, number>> = {
  s: 1_000_000,
  m: 60_000_000,
  h: 3_600_000_000,
  d: 86_400_000_000,
}
