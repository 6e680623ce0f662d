import { sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import type { DialedTls, SourceDefinition } from '../../src/contracts/fetch-connector.ts'
import { type AmqpSource, amqpSource, type GivenBinding } from './source.ts'

/** Ports where an endpoint names none. */
const standardPorts: Readonly<Record<string, number>> = { 'amqp:': 5_672, 'amqps:': 5_671 }

/** Who says hello to a new server, where nobody says who is to. */
const usualCredentials = { username: 'guest', password: 'guest' } as const

export interface AmqpEndpoint {
  readonly host: string
  readonly port: number
  readonly vhost: string
  readonly isSecure: boolean
}

export interface Binding {
  readonly routingKey: string
  /** Values that an exchange of type `headers` compares. */
  readonly arguments: Readonly<Record<string, unknown>>
}

/** Where a queue of our own gets its messages from. */
export interface Subscription {
  readonly exchange: string
  readonly bindings: readonly Binding[]
  /** Whether the queue was named by the source, so that others may know it. */
  readonly isNamed: boolean
}

export type QueueType = NonNullable<AmqpSource['queueType']>

export interface AmqpOptions {
  readonly endpoint: AmqpEndpoint
  readonly tls: DialedTls | undefined
  /** Undefined: the server knows us by our certificate (SASL EXTERNAL). */
  readonly login: { readonly username: string; readonly password: string } | undefined
  readonly queue: string
  /**
   * The routing key that all messages have, as far as the source can know: the name of the queue, or that of the only
   * binding, which has no place for others. What comes by another key came through a filter.
   */
  readonly onlyKey: string | undefined
  readonly queueType: QueueType | undefined
  /** Undefined: the queue belongs to others. */
  readonly subscription: Subscription | undefined
  readonly prefetch: number
  /** Shown to those who run the server. */
  readonly connectionName: string
  /** Whether what is known of a message beside its body is wanted. */
  readonly isMapped: boolean
  readonly isTrial: boolean
}

/** @throws Error when the text is no URL of AMQP (RabbitMQ URI specification) */
export function parseAmqpEndpoint(text: string): AmqpEndpoint {
  const { protocol, hostname, port, pathname } = new URL(text)
  const standard = standardPorts[protocol]
  if (standard === undefined) throw new Error(`${protocol} is not a protocol of AMQP`)
  const path = decodeURIComponent(pathname.slice(1))
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? standard : Number(port),
    vhost: path === '' ? '/' : path,
    isSecure: protocol === 'amqps:',
  }
}

export function amqpOptions({
  streamId,
  source: given,
  isMapped = false,
}: SourceDefinition): AmqpOptions {
  const source = sourceOf(amqpSource, given)
  const { credentials = {}, tls, isTrial = false, topic, group, prefetch } = source
  const endpoint = parseAmqpEndpoint(source.endpoint)
  const { certificate, privateKey } = credentials
  const subscription = subscriptionOf(source)
  return {
    endpoint,
    tls: endpoint.isSecure ? { ...tls, cert: certificate, key: privateKey } : undefined,
    login: loginOf(credentials),
    queue: topic ?? group ?? `streamvault-${streamId}`,
    onlyKey: subscription === undefined ? topic : onlyKeyOf(subscription),
    queueType: source.queueType,
    subscription,
    prefetch,
    connectionName: `streamvault-${streamId}`,
    isMapped,
    isTrial,
  }
}

function loginOf({
  username,
  password,
  certificate,
}: NonNullable<AmqpSource['credentials']>): AmqpOptions['login'] {
  if (username !== undefined && password !== undefined) return { username, password }
  return certificate === undefined ? usualCredentials : undefined
}

/** A key with a place for other words (`*`, `#`: AMQP 0-9-1, section 3.1.3.3) is that of no message. */
function onlyKeyOf({ bindings }: Subscription): string | undefined {
  const [first, second] = bindings
  return second === undefined && first?.routingKey !== '' ? first?.routingKey : undefined
}

function subscriptionOf({
  exchange,
  routingKey = '',
  bindings = [{ routingKey }],
  group,
}: AmqpSource): Subscription | undefined {
  if (exchange === undefined) return undefined
  const whole = bindings.map(({ routingKey: key = '', arguments: more = {} }: GivenBinding) => ({
    routingKey: key,
    arguments: more,
  }))
  return { exchange, bindings: whole, isNamed: group !== undefined }
}
