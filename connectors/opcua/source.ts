import { X509Certificate } from 'node:crypto'
import { isObject, nameProblem } from '../../src/contracts/definitions/field-map.ts'
import {
  type Field,
  finite,
  flag,
  integer,
  newField,
  oneOf,
  part,
  type ValueOf,
} from '../../src/contracts/definitions/fields.ts'
import type { Json, Problems, Rule } from '../../src/contracts/definitions/problems.ts'
import { secretMark } from '../../src/contracts/definitions/secret-mark.ts'
import { type SourceOf, sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { cutText } from '../../src/core/cut-text.ts'
import { address } from '../fields/addresses.ts'
import { brokerCredentials, certificates } from '../fields/credentials.ts'

/** Nodes of one source: each costs memory here and at the server. */
const itemsMax = 10_000

/** Fields that can get values of their own. */
const fieldItemsMax = 256

const nodeIdLengthMax = 500

/** OPC 10000-6, section 5.3.1.10; `nsu` names a namespace by its URI, which outlasts a restart of the server. */
const nodeIdPattern =
  /^(?:ns=\d{1,5};|nsu=[^;]+;)?(?:i=\d{1,10}|s=.+|g=[\dA-Fa-f-]{36}|b=[\w+/=]+)$/

const nodeId = newField<string>(
  (value, key, problems) => {
    const isText = typeof value === 'string' && value.length <= nodeIdLengthMax
    if (isText && nodeIdPattern.test(value)) return
    problems.add(key, 'must be a NodeId such as ns=2;s=Boiler.Temperature or ns=2;i=1001')
  },
  { type: 'string', maxLength: nodeIdLengthMax },
)

const fieldName = newField<string>(
  (value, key, problems) => {
    const problem = typeof value === 'string' ? nameProblem(value, new Set(), 2) : 'must be a name'
    if (problem !== undefined) problems.add(key, problem)
  },
  { type: 'string', maxLength: 63 },
)

const samplingInterval = integer(0, 86_400_000)
const queueSize = integer(1, 100_000)

const deadband: Field<number> = {
  schema: { type: 'number', minimum: 0 },
  rule: (value, key, problems) => {
    finite.rule(value, key, problems)
    if (Number(value) < 0) problems.add(key, 'must not be negative')
  },
}

const item = part({
  nodeId: { ...nodeId, isRequired: true, doc: 'of the value' },
  field: { ...fieldName, doc: 'of the schema: for all items, or for none' },
  samplingInterval: { ...samplingInterval, unit: 'ms', doc: 'that of the source without it' },
  queueSize: { ...queueSize, unit: 'values', doc: 'that of the source without it' },
  deadband: { ...deadband, doc: 'a change by no more, in the unit of the value, does not count' },
})

export type GivenItem = ValueOf<typeof item>

const itemsRule: Rule = (value, key, problems) => {
  const inner = problems.within(key)
  if (isObject(value)) {
    const entries = Object.entries(value)
    if (entries.length === 0 || entries.length > fieldItemsMax) {
      problems.add(key, `must have 1 to ${fieldItemsMax} fields, each with its NodeId`)
      return
    }
    for (const [name, id] of entries) {
      fieldName.rule(name, cutText(name, 100), inner)
      nodeId.rule(id, cutText(name, 100), inner)
    }
    return
  }
  const listed: readonly unknown[] = Array.isArray(value) ? value : []
  if (listed.length === 0 || listed.length > itemsMax) {
    problems.add(key, `must be an object of fields, or a list of 1 to ${itemsMax} items`)
    return
  }
  for (const [index, one] of listed.entries()) {
    const { rule } = isObject(one) ? item : nodeId
    rule(one, `${index}`, inner)
  }
  checkNames(listed, key, problems)
}

const items = newField<Readonly<Record<string, string>> | readonly (string | GivenItem)[]>(
  itemsRule,
  {
    anyOf: [
      {
        type: 'object',
        minProperties: 1,
        maxProperties: fieldItemsMax,
        additionalProperties: nodeId.schema,
      },
      {
        type: 'array',
        minItems: 1,
        maxItems: itemsMax,
        items: { anyOf: [nodeId.schema, item.schema] },
      },
    ],
  },
)

/** Readings have one shape. */
function checkNames(listed: readonly unknown[], key: string, problems: Problems): void {
  const fields = listed.map((one) => (isObject(one) ? one['field'] : undefined))
  const named = fields.filter((name) => name !== undefined)
  if (named.length > 0 && named.length < fields.length) {
    problems.add(key, 'must name a field for all items, or for none')
  }
  if (new Set(named).size < named.length) problems.add(key, 'has a field twice')
  if (named.length > fieldItemsMax) problems.add(key, `has more than ${fieldItemsMax} fields`)
}

const fingerprintPattern = /^(?:sha-?256:)?(?:[\da-f]{2}:?){31}[\da-f]{2}$/i

const serverCertificate = newField<string>(
  (value, key, problems) => {
    if (typeof value === 'string' && fingerprintPattern.test(value)) return
    if (typeof value === 'string' && value.includes('-----BEGIN')) {
      certificates.rule(value, key, problems)
    } else {
      problems.add(key, 'must be a certificate in PEM, or its SHA-256 in hexadecimal digits')
    }
  },
  { type: 'string' },
)

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
    // The problem of one that cannot be read was named already.
  }
}

/** Servers of OPC UA, which tell what changes. */
export const opcUaSource = sourceKind({
  name: 'OpcUaSource',
  family: 'machine',
  protocols: ['opcua'],
  writesTime: true,
  refuses: { formats: 'is of no use with opcua', eventTypes: 'is of no use with opcua' },
  fields: {
    endpoint: {
      ...address('opc.tcp'),
      isRequired: true,
      doc: '`opc.tcp://host:port/path`; port 4840 where none is given',
    },
    items: {
      ...items,
      isRequired: true,
      doc: 'an object of up to 256 fields with their NodeIds; or a list of up to 10,000: NodeIds, or objects with `nodeId` and, if wanted, `field` (for all or none), `samplingInterval`, `queueSize`, `deadband` (a change by no more, in the unit of the value, does not count)',
    },
    samplingInterval: {
      ...samplingInterval,
      default: 1_000,
      unit: 'ms',
      doc: 'in which the server looks at a value; 0: as fast as it can',
    },
    publishingInterval: {
      ...integer(10, 60_000),
      default: 1_000,
      unit: 'ms',
      doc: 'in which it sends what it has found',
    },
    queueSize: {
      ...queueSize,
      default: 100,
      unit: 'values',
      doc: 'of one item that it keeps until they are sent',
    },
    discardOldest: { ...flag, default: true, doc: 'which value goes when there are more' },
    sessionTimeout: {
      ...integer(10_000, 3_600_000),
      default: 60_000,
      unit: 'ms',
      doc: 'for which the server is asked to keep a session from which it receives nothing: [below](#what-is-guaranteed)',
    },
    securityMode: {
      ...oneOf('none', 'sign', 'signAndEncrypt'),
      default: 'none',
      doc: '[below](#security)',
    },
    securityPolicy: {
      ...oneOf('Basic256Sha256', 'Aes128_Sha256_RsaOaep', 'Aes256_Sha256_RsaPss'),
      doc: '`Basic256Sha256` where nothing is said',
    },
    credentials: {
      ...brokerCredentials,
      doc: '`username` and `password`; with a security mode `certificate` and `privateKey` as well: [below](#security)',
    },
    serverCertificate: {
      ...serverCertificate,
      doc: "whom to trust: PEM of the server's certificate or of who issued it, or its SHA-256",
    },
  },
  checkAll: checkOpcUaSource,
})

export type OpcUaSourceKeys = SourceOf<typeof opcUaSource>

/** Says what is wrong with keys beside each other. */
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
  const { timestampFormat = 'rfc3339' } = source
  if (timestampFormat !== 'rfc3339') problems.add('timestampFormat', 'must be rfc3339 with opcua')
}
