import { createPrivateKey, X509Certificate } from 'node:crypto'
import {
  integer,
  type Json,
  type Problems,
  part,
  type Rule,
  type Rules,
  text,
} from '../definition-problems.ts'
import { isObject } from '../field-map.ts'
import { secretMark } from '../source-secrets.ts'

/** Characters of a certificate with its chain, of a key, and of the certificates to trust. */
const pemLengthMax = 20_000

const identifierLengthMax = 200

const protocols = ['mqtt:', 'mqtts:', 'ws:', 'wss:']

/** The endpoint of a broker that somebody else runs: there are no credentials in it. */
const endpoint: Rule = (value, key, problems) => {
  const url = typeof value === 'string' ? URL.parse(value) : null
  const isWebSocket = url?.protocol === 'ws:' || url?.protocol === 'wss:'
  const hasPath = url !== null && url.pathname !== '' && url.pathname !== '/'
  const hasRest = (hasPath || url?.search !== '') && !isWebSocket
  if (url === null || url.hostname === '' || !protocols.includes(url.protocol) || hasRest) {
    problems.add(key, 'must be an address such as mqtt://host:port: mqtt, mqtts, ws or wss')
  } else if (url.username !== '' || url.password !== '') {
    problems.add(key, 'must not hold credentials: they have a key of their own')
  } else if (url.hash !== '') problems.add(key, 'must not have a fragment')
}

/** The id that a broker knows us by: sent as UTF-8, of which MQTT takes no control characters. */
const identifier: Rule = (value, key, problems) => {
  const fits = typeof value === 'string' && /^[^\p{Cc}\p{Cs}]+$/u.test(value)
  if (fits && value.length <= identifierLengthMax) return
  problems.add(key, `must be a text of 1 to ${identifierLengthMax} characters, none a control`)
}

/** MQTT 5, section 4.8.2: a level of a topic filter. */
const sharedGroup: Rule = (value, key, problems) => {
  if (typeof value === 'string' && /[/+#]/.test(value)) problems.add(key, 'must not have / + or #')
  else identifier(value, key, problems)
}

const version: Rule = (value, key, problems) => {
  if (value === 'auto' || value === 3 || value === 4 || value === 5) return
  problems.add(key, "must be 3, 4, 5 or 'auto'")
}

export const certificates: Rule = (value, key, problems) => {
  const isGood = isPem(value, (pem) => new X509Certificate(pem))
  if (!isGood) problems.add(key, 'must be certificates in PEM')
}

export const privateKey: Rule = (value, key, problems) => {
  const isGood = isPem(value, (pem) => createPrivateKey(pem))
  if (!isGood) problems.add(key, 'must be a private key in PEM, without a pass phrase')
}

/** What the library says about a bad key may tell of it: nobody gets to see that. */
function isPem(value: unknown, read: (pem: string) => unknown): boolean {
  if (value === secretMark) return true
  if (typeof value !== 'string' || value.length > pemLengthMax) return false
  try {
    read(value)
    return true
  } catch {
    return false
  }
}

/** A user name with its password, a certificate with its key, or both. */
export const brokerCredentials: Rule = (value, key, problems) => {
  const rules = { username: text, password: text, certificate: certificates, privateKey }
  part(rules)(value, key, problems)
  if (!isObject(value)) return
  const has = (name: string) => value[name] !== undefined
  const isWhole = has('username') === has('password') && has('certificate') === has('privateKey')
  if (!isWhole || (!has('username') && !has('certificate'))) {
    problems.add(key, 'must have username and password, or certificate and privateKey')
  } else if (!fitsItsKey(value)) {
    problems.add(`${key}.privateKey`, 'does not belong to the certificate')
  }
}

/** A certificate with its key, where nobody is asked for a password. */
export const clientCertificate: Rule = (value, key, problems) => {
  const rules = { certificate: certificates, privateKey }
  part(rules, ['certificate', 'privateKey'])(value, key, problems)
  if (isObject(value) && !fitsItsKey(value)) {
    problems.add(`${key}.privateKey`, 'does not belong to the certificate')
  }
}

/** One of them may be kept and the other new: then they are not the pair that they were. */
export function fitsItsKey({ certificate, privateKey: pem }: Json): boolean {
  if (certificate === secretMark || pem === secretMark) return certificate === pem
  if (typeof certificate !== 'string' || typeof pem !== 'string') return true
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(pem))
  } catch {
    // Said of what it is that cannot be read.
    return true
  }
}

/** Keys of a device whose readings lie at a broker of somebody else. */
export const brokerRules: Rules = {
  endpoint,
  credentials: brokerCredentials,
  qos: integer(0, 2),
  clientId: identifier,
  sharedGroup,
  version,
  tls: part({ ca: certificates, servername: text }),
}

/** Checks the keys that only make sense together. */
export function checkBrokerSource(source: Json, problems: Problems): void {
  const { endpoint: address, topic, protocol, tls, credentials: given } = source
  if (address === undefined) return
  if (protocol !== undefined && protocol !== 'mqtt') {
    problems.add('protocol', 'must be mqtt where there is an endpoint of a broker')
  }
  if (topic === undefined) problems.add('topic', 'is required with an endpoint')
  else if (typeof topic === 'string' && topic.startsWith('$share/')) {
    problems.add('topic', 'must not name a group: sharedGroup does')
  }
  if (typeof address !== 'string' || /^(mqtts|wss):/.test(address)) return
  const isCertified = isObject(given) && given['certificate'] !== undefined
  if (isCertified) problems.add('credentials.certificate', 'needs an endpoint of mqtts or wss')
  if (tls !== undefined) problems.add('tls', 'needs an endpoint of mqtts or wss')
}
