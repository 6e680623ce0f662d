import { type Json, oneOf, type Problems, part, type Rule, text } from '../definition-problems.ts'
import { isObject } from '../field-map.ts'
import { certificates, fitsItsKey, privateKey } from './broker.ts'
import { address, type SourceRules } from './source-rules.ts'

const url = address('redis', 'rediss')

/** The endpoint of a server, with the number of one of its databases perhaps. */
const endpoint: Rule = (value, key, problems) => {
  const before = problems.found.length
  url(value, key, problems)
  if (problems.found.length > before) return
  const { pathname, search, hash } = new URL(value as string)
  if (!/^(\/\d{0,4})?$/.test(pathname) || search !== '' || hash !== '') {
    problems.add(
      key,
      'must be an address such as redis://host:port/0, with the number of a database',
    )
  }
}

/** A password, with the name of its user or without; a certificate with its key; or both. */
const credentials: Rule = (value, key, problems) => {
  const rules = { username: text, password: text, certificate: certificates, privateKey }
  part(rules)(value, key, problems)
  if (!isObject(value)) return
  const has = (name: string) => value[name] !== undefined
  const isWhole = has('certificate') === has('privateKey') && (has('password') || !has('username'))
  if (!isWhole || (!has('password') && !has('certificate'))) {
    problems.add(key, 'must have a password, or certificate and privateKey')
  } else if (!fitsItsKey(value)) {
    problems.add(`${key}.privateKey`, 'does not belong to the certificate')
  }
}

/** Entries of a stream of Redis. */
export const redisSource: SourceRules = {
  rules: {
    endpoint,
    topic: text,
    group: text,
    startFrom: oneOf('earliest', 'latest'),
    payloadField: text,
    credentials,
    tls: part({ ca: certificates, servername: text }),
  },
  required: ['endpoint', 'topic'],
  checkAll: checkRedisSource,
}

/** Checks the keys that only make sense together. */
function checkRedisSource(source: Json, problems: Problems): void {
  const { endpoint: given, tls, credentials: known, format = 'json', payloadField } = source
  if (payloadField === undefined && format !== 'json' && format !== 'csv') {
    problems.add('payloadField', 'is required with this format')
  }
  if (typeof given === 'string' && /^rediss:/i.test(given)) return
  if (tls !== undefined) problems.add('tls', 'needs an endpoint of rediss')
  const isCertified = isObject(known) && known['certificate'] !== undefined
  if (isCertified) problems.add('credentials.certificate', 'needs an endpoint of rediss')
}
