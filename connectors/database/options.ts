import { isIP } from 'node:net'
import { type DialedTls, SourceRefused } from '../../src/contracts/fetch-connector.ts'

type Json = Readonly<Record<string, unknown>>

export type Protocol = 'postgres' | 'mysql' | 'mariadb' | 'sqlite' | 'mssql'

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
  /** Its name, or the path of a file. */
  readonly database: string
}

/** How far behind the last row one may come that was committed late. */
export interface LookBehindRule {
  /** For columns of times: how long after its own time. */
  readonly us: number | undefined
  /** For other columns: behind how many rows with greater values. */
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
  /** Of times that name no zone. */
  readonly timezone: string
  readonly refusesNulls: boolean
  readonly timeoutMs: number
  readonly pageSize: number
  readonly timestampField: string
}

/** The keys of a source that this connector knows, as the domain of data streams has checked them. */
interface DatabaseSourceKeys {
  readonly protocol: Protocol
  readonly endpoint: string
  readonly query: string
  readonly incrementalColumn?: string
  readonly keyColumn?: string
  readonly credentials?: { readonly username?: string; readonly password?: string }
  readonly tls?: boolean | { readonly ca?: string; readonly servername?: string }
  readonly lookBehind?: string | number
  readonly timezone?: string
  readonly nulls?: 'skip' | 'refuse'
  readonly statementTimeout?: string
  readonly pageSize?: number
  readonly timestampField?: string
}

const defaults = { lookBehindUs: 30_000_000, lookBehindRows: 1_000, timeoutMs: 30_000, page: 5_000 }

const unitsMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Whether a source is a database that this connector asks. */
export function takesProtocol({ protocol, query }: Json): boolean {
  return (
    typeof protocol === 'string' && Object.hasOwn(standardPorts, protocol) && query !== undefined
  )
}

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

export function databaseOptions(source: Json): DatabaseOptions {
  const keys = source as unknown as DatabaseSourceKeys
  const { protocol, credentials = {}, lookBehind, statementTimeout } = keys
  const address = parseAddress(protocol, keys.endpoint)
  return {
    ...address,
    protocol,
    username: credentials.username ?? '',
    password: credentials.password ?? '',
    tls: tlsOf(keys.tls, address.host),
    query: withoutEnd(keys.query),
    incremental: keys.incrementalColumn,
    key: keys.keyColumn,
    lookBehind: {
      us: typeof lookBehind === 'number' ? undefined : (usOf(lookBehind) ?? defaults.lookBehindUs),
      rows: typeof lookBehind === 'string' ? undefined : (lookBehind ?? defaults.lookBehindRows),
    },
    timezone: keys.timezone ?? 'UTC',
    refusesNulls: keys.nulls === 'refuse',
    timeoutMs: (usOf(statementTimeout) ?? defaults.timeoutMs * 1_000) / 1_000,
    pageSize: keys.pageSize ?? defaults.page,
    timestampField: keys.timestampField ?? 'timestamp',
  }
}

/** A statement without what may end it. A regular expression would look for that end from each space on. */
function withoutEnd(statement: string): string {
  let text = statement.trimEnd()
  while (text.endsWith(';')) text = text.slice(0, -1).trimEnd()
  return text
}

function tlsOf(tls: DatabaseSourceKeys['tls'], host: string): DialedTls | undefined {
  if (tls === undefined || tls === false) return undefined
  const { ca, servername } = tls === true ? {} : tls
  return { ca, servername: servername ?? (isIP(host) === 0 ? host : undefined) }
}

function usOf(duration: string | undefined): number | undefined {
  if (duration === undefined) return undefined
  return Number(duration.slice(0, -1)) * (unitsMs[duration.slice(-1)] ?? 0) * 1_000
}
