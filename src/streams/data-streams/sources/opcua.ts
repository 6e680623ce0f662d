import { X509Certificate } from 'node:crypto'
import { cutText } from '../../../core/cut-text.ts'
import {
  check,
  finite,
  flag,
  integer,
  type Json,
  oneOf,
  type Problems,
  type Rule,
  text,
} from '../definition-problems.ts'
import { isObject, nameProblem } from '../field-map.ts'
import { formatKeys } from '../payload-format.ts'
import { secretMark } from '../source-secrets.ts'
import { brokerRules, certificates } from './broker.ts'
import { address, type SourceRules } from './source-rules.ts'

/** Nodes of one source: each costs memory here and at the server. */
const itemsMax = 10_000

/** Fields that can get values of their own. */
const fieldItemsMax = 256

const nodeIdLengthMax = 500

/** OPC 10000-6, section 5.3.1.10; `nsu` names a namespace by its URI, which outlasts a restart of the server. */
const nodeIdPattern =
  /^(?:ns=\d{1,5};|nsu=[^;]+;)?(?:i=\d{1,10}|s=.+|g=[\dA-Fa-f-]{36}|b=[\w+/=]+)$/

const nodeId: Rule = (value, key, problems) => {
  const isText = typeof value === 'string' && value.length <= nodeIdLengthMax
  if (isText && nodeIdPattern.test(value)) return
  problems.add(key, 'must be a NodeId such as ns=2;s=Boiler.Temperature or ns=2;i=1001')
}

const fieldName: Rule = (value, key, problems) => {
  const problem = typeof value === 'string' ? nameProblem(value, new Set(), 2) : 'must be a name'
  if (problem !== undefined) problems.add(key, problem)
}

const samplingInterval = integer(0, 86_400_000)
const queueSize = integer(1, 100_000)

const itemRules = {
  nodeId,
  field: fieldName,
  samplingInterval,
  queueSize,
  deadband: ((value, key, problems) => {
    finite(value, key, problems)
    if (Number(value) < 0) problems.add(key, 'must not be negative')
  }) satisfies Rule,
}

const items: Rule = (value, key, problems) => {
  const inner = problems.within(key)
  if (isObject(value)) {
    const entries = Object.entries(value)
    if (entries.length === 0 || entries.length > fieldItemsMax) {
      problems.add(key, `must have 1 to ${fieldItemsMax} fields, each with its NodeId`)
      return
    }
    for (const [field, id] of entries) {
      fieldName(field, cutText(field, 100), inner)
      nodeId(id, cutText(field, 100), inner)
    }
    return
  }
  const listed: readonly unknown[] = Array.isArray(value) ? value : []
  if (listed.length === 0 || listed.length > itemsMax) {
    problems.add(key, `must be an object of fields, or a list of 1 to ${itemsMax} items`)
    return
  }
  for (const [index, item] of listed.entries()) {
    if (isObject(item)) {
      check(item, { rules: itemRules, required: ['nodeId'] }, inner.within(`${index}`))
    } else nodeId(item, `${index}`, inner)
  }
  checkFields(listed, key, problems)
}

/** Readings have one shape. */
function checkFields(listed: readonly unknown[], key: string, problems: Problems): void {
  const fields = listed.map((item) => (isObject(item) ? item['field'] : undefined))
  const named = fields.filter((field) => field !== undefined)
  if (named.length > 0 && named.length < fields.length) {
    problems.add(key, 'must name a field for all items, or for none')
  }
  if (new Set(named).size < named.length) problems.add(key, 'has a field twice')
  if (named.length > fieldItemsMax) problems.add(key, `has more than ${fieldItemsMax} fields`)
}

const fingerprintPattern = /^(?:sha-?256:)?(?:[\da-f]{2}:?){31}[\da-f]{2}$/i

const serverCertificate: Rule = (value, key, problems) => {
  if (typeof value === 'string' && fingerprintPattern.test(value)) return
  if (typeof value === 'string' && value.includes('-----BEGIN')) certificates(value, key, problems)
  else problems.add(key, 'must be a certificate in PEM, or its SHA-256 in hexadecimal digits')
}

/** A server finds out from the certificate which application speaks, and how: OPC 10000-6, section 6.2.2. */
function checkCertificate({ certificate }: Json, problems: Problems): void {
  if (typeof certificate !== 'string' || certificate === secretMark) return
  try {
    const { subjectAltName = '', publicKey } = new X509Certificate(certificate)
    if (!subjectAltName.includes('URI:')) {
      problems.add('certificate', 'must name its application: a URI among its alternative names')
    }
    if (publicKey.asymmetricKeyType !== 'rsa') problems.add('certificate', 'must be one of RSA')
  } catch {
    // That it cannot be read was said already.
  }
}

export const opcUaSource: SourceRules = {
  rules: {
    endpoint: address('opc.tcp'),
    items,
    samplingInterval,
    publishingInterval: integer(10, 60_000),
    queueSize,
    discardOldest: flag,
    sessionTimeout: integer(10_000, 3_600_000),
    securityMode: oneOf('none', 'sign', 'signAndEncrypt'),
    securityPolicy: oneOf('Basic256Sha256', 'Aes128_Sha256_RsaOaep', 'Aes256_Sha256_RsaPss'),
    credentials: brokerRules['credentials'] ?? text,
    serverCertificate,
  },
  required: ['endpoint', 'items'],
  checkAll: checkOpcUaSource,
}

/** Checks the keys that only make sense together. */
function checkOpcUaSource(source: Json, problems: Problems): void {
  const { securityMode = 'none', securityPolicy, credentials, serverCertificate: pinned } = source
  const isSecure = securityMode !== 'none'
  const hasCertificate = isObject(credentials) && credentials['certificate'] !== undefined
  if (isSecure && !hasCertificate) {
    problems.add('credentials.certificate', 'is required with a security mode')
  }
  if (!isSecure && hasCertificate) {
    problems.add('credentials.certificate', 'needs the security mode sign or signAndEncrypt')
  }
  if (!isSecure && securityPolicy !== undefined) {
    problems.add('securityPolicy', 'needs the security mode sign or signAndEncrypt')
  }
  if (!isSecure && pinned !== undefined) {
    problems.add('serverCertificate', 'needs the security mode sign or signAndEncrypt')
  }
  if (isObject(credentials)) checkCertificate(credentials, problems.within('credentials'))
  for (const key of [...formatKeys, 'eventTypes', 'eventTypeField']) {
    if (source[key] !== undefined) problems.add(key, 'is of no use with opcua')
  }
  const { timestampFormat = 'rfc3339' } = source
  if (timestampFormat !== 'rfc3339') problems.add('timestampFormat', 'must be rfc3339 with opcua')
}
