import type { DialedTls, SourceDefinition } from '../../src/contracts/fetch-connector.ts'

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
  /** Whether it is only tried: nothing is left on the server. */
  readonly isTrial: boolean
}

export interface NatsCredentials {
  readonly username?: string
  readonly password?: string
  readonly token?: string
  /** Text of a file with a JWT of a user and its NKey. */
  readonly credentialsFile?: string
  /** Seed of an NKey of a user. */
  readonly nkey?: string
  /** For TLS: PEM. */
  readonly certificate?: string
  readonly privateKey?: string
}

/** The keys of a source that this connector knows, as the domain of data streams has checked them. */
interface NatsKeys {
  readonly endpoint: string
  readonly topic: string
  readonly stream?: string
  readonly domain?: string
  readonly group?: string
  readonly startFrom?: 'earliest' | 'latest'
  readonly tls?: {
    readonly ca?: string
    readonly servername?: string
    readonly handshakeFirst?: boolean
  }
  readonly credentials?: NatsCredentials
  readonly eventTypes?: unknown
  /** Never part of a definition. */
  readonly isTrial?: boolean
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

export function natsOptions({ streamId, source }: SourceDefinition): NatsOptions {
  const keys = source as unknown as NatsKeys
  const { host, port, isSecure } = parseNatsEndpoint(keys.endpoint)
  const { credentials = {}, tls = {} } = keys
  const { certificate: cert, privateKey: key } = credentials
  return {
    host,
    port,
    tls: isSecure ? { ca: tls.ca, servername: tls.servername, cert, key } : undefined,
    isTlsFirst: tls.handshakeFirst === true,
    credentials,
    topic: keys.topic,
    stream: keys.stream,
    domain: keys.domain,
    // Always the same for one stream: the server knows by it what it has sent us.
    consumer: keys.group ?? `streamvault-${streamId}`,
    isOwnConsumer: keys.group === undefined,
    startsWithNew: keys.startFrom === 'latest',
    hasEventTypes: keys.eventTypes !== undefined,
    isTrial: keys.isTrial === true,
  }
}
