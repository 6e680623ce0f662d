import {
  check,
  integer,
  type Json,
  oneOf,
  type Problems,
  part,
  type Rule,
  text,
} from '../definition-problems.ts'
import { isObject } from '../field-map.ts'
import { brokerCredentials, certificates } from './broker.ts'
import { address, type SourceRules } from './source-rules.ts'

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

const shortText: Rule = (value, key, problems) => {
  const fits = typeof value === 'string' && Buffer.byteLength(value) <= shortBytesMax
  if (!fits || value === '') problems.add(key, `must be a text of 1 to ${shortBytesMax} bytes`)
}

const routingKey: Rule = (value, key, problems) => {
  const fits = typeof value === 'string' && Buffer.byteLength(value) <= shortBytesMax
  if (!fits) problems.add(key, `must be a text of at most ${shortBytesMax} bytes`)
}

const group: Rule = (value, key, problems) => {
  shortText(value, key, problems)
  const isReserved = typeof value === 'string' && value.startsWith(reserved)
  if (isReserved) problems.add(key, `must not begin with ${reserved}`)
}

/** What messages an exchange of headers passes on: headers with their values, and `x-match`. */
const bindingArguments: Rule = (value, key, problems) => {
  const entries = isObject(value) ? Object.entries(value) : undefined
  const fits = entries?.every(
    ([name, item]) => Buffer.byteLength(name) <= shortBytesMax && plainTypes.includes(typeof item),
  )
  if (fits !== true) problems.add(key, 'must be an object of texts, numbers, and true or false')
  else if ((entries?.length ?? 0) > argumentsMax) {
    problems.add(key, `has more than ${argumentsMax} entries`)
  }
}

const bindings: Rule = (value, key, problems) => {
  if (!Array.isArray(value) || value.length === 0 || value.length > bindingsMax) {
    problems.add(key, `must be an array of 1 to ${bindingsMax} bindings`)
    return
  }
  const inner = problems.within(key)
  for (const [index, binding] of value.entries()) {
    if (!isObject(binding)) inner.add(`${index}`, 'must be an object')
    else check(binding, { rules: bindingRules }, inner.within(`${index}`))
  }
}

const bindingRules = { routingKey, arguments: bindingArguments } as const

/** `amqp://host:port/vhost`: a slash in the name of a virtual host is written as %2F. */
const endpoint: Rule = (value, key, problems) => {
  const before = problems.found.length
  address('amqp', 'amqps')(value, key, problems)
  if (problems.found.length > before) return
  const { pathname, search, hash } = new URL(value as string)
  if (search !== '' || hash !== '' || !isVhost(pathname.slice(1))) {
    problems.add(key, 'must be an address such as amqp://host:port/vhost')
  }
}

function isVhost(path: string): boolean {
  try {
    return !path.includes('/') && Buffer.byteLength(decodeURIComponent(path)) <= shortBytesMax
  } catch {
    return false
  }
}

/** Keys of a source that is a queue of an AMQP 0-9-1 server. */
export const amqpSource: SourceRules = {
  rules: {
    endpoint,
    topic: shortText,
    exchange: shortText,
    routingKey,
    bindings,
    group,
    queueType: oneOf('classic', 'quorum', 'stream'),
    prefetch: integer(1, prefetchMax),
    credentials: brokerCredentials,
    tls: part({ ca: certificates, servername: text }),
  },
  required: ['endpoint'],
  checkAll: checkAmqpSource,
}

/** Checks the keys that only make sense together. */
function checkAmqpSource(source: Json, problems: Problems): void {
  const { topic, exchange, format, endpoint: to, credentials, tls } = source
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
  if (typeof to !== 'string' || /^amqps:/i.test(to)) return
  const isCertified = isObject(credentials) && credentials['certificate'] !== undefined
  if (isCertified) problems.add('credentials.certificate', 'needs an endpoint of amqps')
  if (tls !== undefined) problems.add('tls', 'needs an endpoint of amqps')
}
