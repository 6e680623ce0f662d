import { sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import type { DialedTls, SourceDefinition } from '../../src/contracts/fetch-connector.ts'
import { timeNameOf } from '../../src/contracts/time-member.ts'
import { parseAddress } from '../database/options.ts'
import { postgresLogSource } from './source.ts'

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
  /** Zone of times that have none. */
  readonly timezone: string
  readonly timestampField: string
  /** Whether it is only tried: nothing is left on the server. */
  readonly isTrial: boolean
}

export function postgresLogOptions({
  streamId,
  source: given,
}: SourceDefinition): PostgresLogOptions {
  const source = sourceOf(postgresLogSource, given)
  const { credentials, publication, slot, tls } = source
  // Names never change for a stream: the server knows by them what it has kept for us.
  const ownName = `streamvault_${streamId.replaceAll('-', '')}`
  const [schema = '', table = ''] = source.table.includes('.')
    ? source.table.split('.', 2)
    : ['public', source.table]
  return {
    ...parseAddress('postgres', source.endpoint),
    user: credentials.username,
    password: credentials.password,
    tls: tls === true ? {} : tls === false ? undefined : tls,
    schema,
    table,
    publication: publication ?? ownName,
    isOwnPublication: publication === undefined,
    slot: slot ?? ownName,
    withUpdates: source.changes === 'insert_update',
    timezone: source.timezone,
    timestampField: timeNameOf(source),
    isTrial: source.isTrial === true,
  }
}
