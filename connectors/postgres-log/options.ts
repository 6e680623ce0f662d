import type { DialedTls, SourceDefinition } from '../../src/contracts/fetch-connector.ts'
import { parseAddress } from '../database/options.ts'

export interface PostgresLogOptions {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password: string
  /** Undefined: without TLS. */
  readonly tls: DialedTls | undefined
  readonly schema: string
  readonly table: string
  readonly publication: string
  /** Whether we make it, and take it away again. */
  readonly isOwnPublication: boolean
  readonly slot: string
  readonly withUpdates: boolean
  /** Of times that have none. */
  readonly timezone: string
  readonly timestampField: string
  /** Whether it is only tried: nothing is left on the server. */
  readonly isTrial: boolean
}

/** The keys of a source that this connector knows, as the domain of data streams has checked them. */
interface PostgresLogKeys {
  readonly endpoint: string
  readonly table: string
  readonly publication?: string
  readonly slot?: string | undefined
  readonly changes?: 'insert' | 'insert_update'
  readonly timezone?: string
  readonly credentials?: {
    readonly username?: string
    readonly password?: string
  }
  readonly tls?: boolean | DialedTls
  readonly timestampField?: string
  /** Never part of a definition. */
  readonly isTrial?: boolean
}

export function postgresLogOptions({ streamId, source }: SourceDefinition): PostgresLogOptions {
  const keys = source as unknown as PostgresLogKeys
  // The same for ever for one stream: the server knows by it what it has kept for us.
  const ownName = `streamvault_${streamId.replaceAll('-', '')}`
  const [schema, table] = keys.table.includes('.')
    ? keys.table.split('.', 2)
    : ['public', keys.table]
  return {
    ...parseAddress('postgres', keys.endpoint),
    user: keys.credentials?.username ?? '',
    password: keys.credentials?.password ?? '',
    tls: keys.tls === true ? {} : keys.tls === false ? undefined : keys.tls,
    schema: schema as string,
    table: table as string,
    publication: keys.publication ?? ownName,
    isOwnPublication: keys.publication === undefined,
    slot: keys.slot ?? ownName,
    withUpdates: keys.changes === 'insert_update',
    timezone: keys.timezone ?? 'UTC',
    timestampField: keys.timestampField ?? 'timestamp',
    isTrial: keys.isTrial === true,
  }
}
