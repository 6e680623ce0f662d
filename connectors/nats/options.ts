import { sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import type { DialedTls, SourceDefinition } from '../../src/contracts/fetch-connector.ts'
import { type NatsCredentials, natsSource } from './source.ts'

export interface NatsOptions {
  readonly host: string
  readonly port: number
  /** Undefined: without TLS. */
  readonly tls: DialedTls | undefined
  /** Whether TLS begins before the server has said anything. */
  readonly isTlsFirst: boolean
  readonly credentials: NatsCredentials
  /** Subject filter: `*` stands for one token, `>` for all from the last one on. */
  readonly topic: string
  /** Undefined: the one that keeps the topic. */
  readonly stream: string | undefined
  /** JetStream of another domain, behind a leaf node say. */
  readonly domain: string | undefined
  /** Name of the durable consumer. */
  readonly consumer: string
  /** Whether nobody else has to do with the consumer: it may be made anew at any place. */
  readonly isOwnConsumer: boolean
  readonly startsWithNew: boolean
  /** Whether the types of events are wanted, which stand in headers. */
  readonly hasEventTypes: boolean
  /** Whether what is known of a message beside its bytes is wanted. */
  readonly isMapped: boolean
  /** Whether it is only tried: nothing is left on the server. */
  readonly isTrial: boolean
}

/** The port of clients, where an endpoint names none. */
const standardPort = 4222

/** @throws Error when the text is no URL */
export function parseNatsEndpoint(text: string) {
  const { protocol, hostname, port } = new URL(text)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? standardPort : Number(port),
    isSecure: protocol === 'tls:',
  }
}

export function natsOptions({
  streamId,
  source: given,
  isMapped = false,
}: SourceDefinition): NatsOptions {
  const source = sourceOf(natsSource, given)
  const { host, port, isSecure } = parseNatsEndpoint(source.endpoint)
  const { credentials = {}, tls = {}, group } = source
  const { certificate: cert, privateKey: key } = credentials
  return {
    host,
    port,
    tls: isSecure ? { ca: tls.ca, servername: tls.servername, cert, key } : undefined,
    isTlsFirst: tls.handshakeFirst === true,
    credentials,
    topic: source.topic,
    stream: source.stream,
    domain: source.domain,
    // The name never changes for a stream: the server knows by it what it has sent us.
    consumer: group ?? `streamvault-${streamId}`,
    isOwnConsumer: group === undefined,
    startsWithNew: source.startFrom === 'latest',
    hasEventTypes: source.eventTypes !== undefined || isMapped,
    isMapped,
    isTrial: source.isTrial === true,
  }
}
