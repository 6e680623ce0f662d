import { isObject } from '../../src/contracts/definitions/field-map.ts'
import {
  integer,
  listOf,
  newField,
  oneOf,
  part,
  refined,
  type ValueOf,
} from '../../src/contracts/definitions/fields.ts'
import type { Json, Problems } from '../../src/contracts/definitions/problems.ts'
import { type SourceOf, sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { addressWith, hasScheme } from '../fields/addresses.ts'
import { brokerCredentials, refusePlain, tls } from '../fields/credentials.ts'

/** Bytes of a name: AMQP 0-9-1, section 4.2.5.3. */
const shortBytesMax = 255

/** Bindings of one queue, and arguments of one of them. */
const bindingsMax = 100
const argumentsMax = 20

const plainTypes = ['string', 'number', 'boolean']

/** Messages that a server may send before the first is acknowledged. */
const prefetchMax = 10_000

/** Names of the server's own queues and exchanges begin like this, and queues cannot be declared so. */
const reserved = 'amq.'

const shortText = newField<string>(
  (value, key, problems) => {
    const fits = typeof value === 'string' && Buffer.byteLength(value) <= shortBytesMax
    if (!fits || value === '') problems.add(key, `must be a text of 1 to ${shortBytesMax} bytes`)
  },
  { type: 'string', minLength: 1, maxLength: shortBytesMax },
)

const routingKey = newField<string>(
  (value, key, problems) => {
    const fits = typeof value === 'string' && Buffer.byteLength(value) <= shortBytesMax
    if (!fits) problems.add(key, `must be a text of at most ${shortBytesMax} bytes`)
  },
  { type: 'string', maxLength: shortBytesMax },
)

const group = refined(shortText, (value, key, problems) => {
  if (value.startsWith(reserved)) problems.add(key, `must not begin with ${reserved}`)
})

/** Headers with their values, and `x-match`: the messages that an exchange of headers passes on. */
const bindingArguments = newField<Readonly<Record<string, unknown>>>(
  (value, key, problems) => {
    const entries = isObject(value) ? Object.entries(value) : undefined
    const fits = entries?.every(
      ([name, item]) =>
        Buffer.byteLength(name) <= shortBytesMax && plainTypes.includes(typeof item),
    )
    if (fits !== true) problems.add(key, 'must be an object of texts, numbers, and true or false')
    else if ((entries?.length ?? 0) > argumentsMax) {
      problems.add(key, `has more than ${argumentsMax} entries`)
    }
  },
  {
    type: 'object',
    maxProperties: argumentsMax,
    additionalProperties: { type: plainTypes },
  },
)

const binding = part({
  routingKey: { ...routingKey, doc: 'The routing key.' },
  arguments: { ...bindingArguments, doc: 'Of an exchange of headers.' },
})

export type GivenBinding = ValueOf<typeof binding>

/** Queues of an AMQP 0-9-1 server. */
export const amqpSource = sourceKind({
  name: 'AmqpSource',
  family: 'events',
  protocols: ['amqp'],
  tells: ['topic', 'header', 'time', 'event'],
  fields: {
    endpoint: {
      // A slash in the name of a virtual host is written as %2F.
      ...addressWith(
        ['amqp', 'amqps'],
        ({ pathname, search, hash }) => search + hash === '' && isVhost(pathname.slice(1)),
        'amqp://host:port/vhost',
      ),
      isRequired: true,
      doc: '`amqp://host:port/vhost`, or `amqps://` with TLS. The ports are 5672 and 5671, and the virtual host is `/`, if nothing is said. A slash in its name is written `%2F`',
    },
    topic: {
      ...shortText,
      doc: 'the name of a queue. It has to be there: the service does not make queues for others',
    },
    exchange: { ...shortText, doc: 'the name of an exchange that is there; instead of `topic`' },
    routingKey: {
      ...routingKey,
      doc: 'what the queue is bound with; empty if nothing is said, as an exchange of type `fanout` has it',
    },
    bindings: {
      ...listOf(binding, { max: bindingsMax, of: 'bindings' }),
      doc: 'several of them: up to 100 objects with a `routingKey`, with `arguments`, or both. An exchange of type `headers` takes `{"arguments": {"x-match": "all", "floor": 7}}`',
    },
    group: {
      ...group,
      doc: 'the name of our own queue. Without it, it is `streamvault-` and the id of the stream',
    },
    queueType: {
      ...oneOf('classic', 'quorum', 'stream'),
      doc: 'what our own queue is made as. Of a `topic` it has to be said where it is a `stream`',
    },
    prefetch: {
      ...integer(1, prefetchMax),
      default: 1_000,
      unit: 'messages',
      doc: 'that the server may send before the first is acknowledged',
    },
    credentials: {
      ...brokerCredentials,
      doc: '`username` and `password`; or `certificate` and `privateKey` over `amqps` (SASL EXTERNAL). Without them it is `guest`',
    },
    tls: { ...tls, doc: 'the `ca` to trust, and the `servername` to expect' },
  },
  // Which keys a queue gets messages by is known to the server; the connector names those that are not its own.
  takesSeveralTopics: () => true,
  checkAll: checkAmqpSource,
})

export type AmqpSource = SourceOf<typeof amqpSource>

function isVhost(path: string): boolean {
  try {
    return !path.includes('/') && Buffer.byteLength(decodeURIComponent(path)) <= shortBytesMax
  } catch {
    return false
  }
}

/** Says what is wrong with keys beside each other. */
function checkAmqpSource(source: Json, problems: Problems): void {
  const { topic, exchange, format, endpoint } = source
  if (topic === undefined && exchange === undefined) {
    problems.add('topic', 'is required (the name of a queue), unless there is an exchange')
  } else if (topic !== undefined && exchange !== undefined) {
    problems.add('topic', 'is of no use with an exchange: group names the queue')
  }
  if (exchange === undefined) {
    for (const key of ['routingKey', 'bindings', 'group']) {
      if (source[key] !== undefined) problems.add(key, 'needs an exchange')
    }
  } else if (source['routingKey'] !== undefined && source['bindings'] !== undefined) {
    problems.add('routingKey', 'is a part of each of the bindings')
  }
  if (format === 'sparkplug') problems.add('format', 'sparkplug comes from brokers of MQTT only')
  if (typeof endpoint !== 'string' || hasScheme(endpoint, 'amqps')) return
  refusePlain(source, 'needs an endpoint of amqps', problems)
}
