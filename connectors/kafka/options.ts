import { sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import type { DialedTls, SourceDefinition } from '../../src/contracts/fetch-connector.ts'
import { type KafkaSource, kafkaSource } from './source.ts'

export interface KafkaAddress {
  readonly host: string
  readonly port: number
}

export interface KafkaLogin {
  readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'
  readonly username: string
  readonly password: string
}

export interface KafkaOptions {
  /** Whom to ask first where the others are. */
  readonly brokers: readonly KafkaAddress[]
  readonly topics: readonly string[]
  readonly group: string
  /** Whether nobody else can be in the group. */
  readonly isOwnGroup: boolean
  /** What the group knows this stream by, through all its connections. */
  readonly instanceId: string
  readonly startFrom: 'earliest' | 'latest'
  /** Undefined: without TLS. */
  readonly tls: DialedTls | undefined
  readonly login: KafkaLogin | undefined
  /** Whether headers say what an event is. */
  readonly hasEventTypes: boolean
  /** Whether what is known of a message beside its value is wanted. */
  readonly isMapped: boolean
  /** Whether it is only tried: the group is left alone. */
  readonly isTrial: boolean
}

const standardPort = 9092

export function kafkaOptions({
  streamId,
  source: given,
  isMapped = false,
}: SourceDefinition): KafkaOptions {
  const source = sourceOf(kafkaSource, given)
  const { topic, group, startFrom } = source
  const ownName = `streamvault-${streamId}`
  return {
    brokers: parseBrokers(source.endpoint),
    topics: [...new Set(topic.split(','))].toSorted(),
    group: group ?? ownName,
    isOwnGroup: group === undefined,
    instanceId: ownName,
    startFrom,
    tls: tlsOf(source),
    login: loginOf(source),
    hasEventTypes: source.eventTypes !== undefined || isMapped,
    isMapped,
    isTrial: source.isTrial === true,
  }
}

/** @param endpoint `kafka://one:9092,other:9092` */
export function parseBrokers(endpoint: string): readonly KafkaAddress[] {
  const texts = endpoint.replace(/^kafka:\/\//, '').split(',')
  return texts.map((text) => {
    const [, host = '', port] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(text) ?? []
    return {
      host: host.replace(/^\[|\]$/g, ''),
      port: port === undefined ? standardPort : Number(port),
    }
  })
}

function tlsOf({ tls, credentials }: KafkaSource): DialedTls | undefined {
  const { certificate: cert, privateKey: key } = credentials ?? {}
  if (tls === undefined && cert === undefined) return undefined
  return { ...(tls === true ? {} : tls), ...(cert !== undefined && { cert, key }) }
}

function loginOf({ credentials }: KafkaSource): KafkaLogin | undefined {
  const { type = 'plain', username, password } = credentials ?? {}
  if (username === undefined || password === undefined) return undefined
  const mechanisms = {
    plain: 'PLAIN',
    'scram-sha-256': 'SCRAM-SHA-256',
    'scram-sha-512': 'SCRAM-SHA-512',
  } as const
  return { mechanism: mechanisms[type], username, password }
}
