import { sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import type { DialedTls, SourceDefinition } from '../../src/contracts/fetch-connector.ts'
import { hasScheme } from '../fields/addresses.ts'
import { type RedisSource, redisSource } from './source.ts'

const standardPort = 6379

/** What an entry becomes. */
export interface EntryShape {
  /** The field of an entry whose value is the payload; undefined: all fields are. */
  readonly payloadField: string | undefined
  /** The fields of a line of CSV, where entries become one. */
  readonly columns: readonly (string | null)[] | undefined
  readonly delimiter: string
  /** The field of an entry that says what it is, where the stream has types of events. */
  readonly eventTypeField: string | undefined
  /** What is known of the types of fields. */
  readonly fieldTypes: ReadonlyMap<string, string>
}

export interface RedisAddress {
  readonly host: string
  readonly port: number
  readonly database: number
}

export interface RedisStreamOptions extends RedisAddress {
  /** Undefined: without. */
  readonly tls: DialedTls | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  /** The key of the stream. */
  readonly key: string
  readonly group: string | undefined
  /** What the group knows us by, and by what it knows us where we take over entries of others. */
  readonly consumer: string
  readonly claimant: string
  readonly startFrom: 'earliest' | 'latest'
  readonly shape: EntryShape
  /** Whether what is known of a message beside its bytes is wanted. */
  readonly isMapped: boolean
  /** Whether it is only tried: nothing is taken or left there. */
  readonly isTrial: boolean
}

/** Reads `redis://host:port/database`. */
export function parseRedisEndpoint(endpoint: string): RedisAddress {
  const { hostname, port, pathname } = new URL(endpoint)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? standardPort : Number(port),
    database: Number(pathname.slice(1)),
  }
}

export function redisStreamOptions({
  streamId,
  source: given,
  isMapped = false,
}: SourceDefinition): RedisStreamOptions {
  const source = sourceOf(redisSource, given)
  const { endpoint, credentials = {}, tls = {} } = source
  const { certificate: cert, privateKey: key } = credentials
  return {
    ...parseRedisEndpoint(endpoint),
    tls: hasScheme(endpoint, 'rediss') ? { ...tls, cert, key } : undefined,
    username: credentials.username,
    password: credentials.password,
    key: source.topic,
    group: source.group,
    // Names never change for a stream: the server knows by them what it has sent to us.
    consumer: `streamvault-${streamId}`,
    claimant: `streamvault-${streamId}-claimed`,
    startFrom: source.startFrom,
    shape: shapeOf(source),
    isMapped,
    isTrial: source.isTrial === true,
  }
}

function shapeOf(source: RedisSource): EntryShape {
  const { payloadField, format, columns, delimiter = ',', eventTypes, eventTypeField } = source
  const isLine = payloadField === undefined && format === 'csv'
  const fields = Object.values(eventTypes ?? {}).flatMap((event) => Object.entries(event))
  return {
    payloadField,
    columns: isLine ? columns : undefined,
    delimiter,
    eventTypeField: eventTypes === undefined ? undefined : (eventTypeField ?? 'type'),
    fieldTypes: new Map(fields.map(([name, { type }]) => [name, type])),
  }
}
