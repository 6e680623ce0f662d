import { isObject } from '../../src/contracts/definitions/field-map.ts'
import { duration, newField, oneOf, part, text } from '../../src/contracts/definitions/fields.ts'
import type { Json, Problems } from '../../src/contracts/definitions/problems.ts'
import { secretMark } from '../../src/contracts/definitions/secret-mark.ts'
import { type SourceOf, sourceKind } from '../../src/contracts/definitions/source-kind.ts'

/** Who the signature was invented by, or `hmac` and `token` for what everybody has in another way. */
const schemes = [
  'standard-webhooks',
  'github',
  'stripe',
  'slack',
  'shopify',
  'hmac',
  'token',
] as const

/** Schemes that sign a time, so that a message that is too old can be told. */
const timedSchemes = ['standard-webhooks', 'stripe', 'slack']

/** A shorter secret can be guessed. */
const secretLengthMin = 8

/** Bytes of a secret of Standard Webhooks: section "Signature scheme" of its specification. */
const standardSecretBytes = { min: 24, max: 64 } as const

/** RFC 9110, section 5.1. */
const headerName = newField<string>(
  (value, key, problems) => {
    if (typeof value === 'string' && headerPattern.test(value)) return
    problems.add(key, 'must be the name of a header')
  },
  { type: 'string', minLength: 1, maxLength: 100 },
)

const headerPattern = /^[\w!#$%&'*+.^`|~-]{1,100}$/

const parameterName = newField<string>(
  (value, key, problems) => {
    if (typeof value === 'string' && parameterPattern.test(value)) return
    problems.add(key, 'must be the name of a parameter: letters, digits, points, - and _')
  },
  { type: 'string', pattern: '^[A-Za-z0-9._-]{1,100}$' },
)

const parameterPattern = /^[A-Za-z0-9._-]{1,100}$/

/** What the signature is made of: a text with the body in it, once. */
const signedContent = newField<string>(
  (value, key, problems) => {
    const isText = typeof value === 'string' && value.length <= 200
    if (isText && value.split('{body}').length === 2) return
    problems.add(key, 'must be a text of up to 200 characters with {body} in it, once')
  },
  { type: 'string', maxLength: 200 },
)

const prefix = newField<string>(
  (value, key, problems) => {
    if (typeof value === 'string' && /^[\x20-\x7e]{1,50}$/.test(value)) return
    problems.add(key, 'must be 1 to 50 printable characters')
  },
  { type: 'string', minLength: 1, maxLength: 50 },
)

const signature = part({
  scheme: {
    ...oneOf(...schemes),
    isRequired: true,
    doc: 'who the signature was invented by; `hmac` and `token` are for all others',
  },
  header: { ...headerName, doc: 'of `hmac` and `token`: the header with the signature' },
  parameter: {
    ...parameterName,
    doc: 'of `token`, in place of `header`: the parameter of the address with the secret, for a sender that cannot set headers',
  },
  algorithm: { ...oneOf('sha256', 'sha512', 'sha1'), default: 'sha256', doc: 'of `hmac`' },
  encoding: { ...oneOf('hex', 'base64', 'base64url'), default: 'hex', doc: 'of `hmac`' },
  prefix: { ...prefix, doc: 'of `hmac` and `token`: what stands before it in the header' },
  timestampHeader: { ...headerName, doc: 'of `hmac`: the header with the time that is signed' },
  signedContent: {
    ...signedContent,
    doc: 'of `hmac`: what is signed, with `{body}`, `{timestamp}` and `{id}` in their places. Without it `{body}`, or `{timestamp}.{body}` with a `timestampHeader`',
  },
  tolerance: {
    ...duration,
    default: '5m',
    doc: 'how far the signed time may be from now, before or after',
  },
})

/** Senders that post messages to an address of the stream, and prove by a signature that it is them. */
export const webhookSource = sourceKind({
  name: 'WebhookSource',
  family: 'events',
  protocols: ['webhook'],
  tells: ['header', 'query', 'event'],
  inbound: { schemeOf, secretProblem },
  fields: {
    signature: { ...signature, isRequired: true, doc: 'how messages are signed: above' },
    credentials: {
      ...part({ secret: { ...text, isRequired: true, isSecret: true, doc: 'The secret.' } }),
      isRequired: true,
      doc: '`secret`: what messages are signed with: 8 characters at least; of Standard Webhooks base64 of 24 to 64 bytes',
    },
    idHeader: {
      ...headerName,
      doc: 'the header that names a message, the same when it is sent again; not with `standard-webhooks`, which has its own',
    },
    eventTypeHeader: {
      ...headerName,
      doc: 'the header that names the type of an event; a type in the body goes before it',
    },
  },
  checkAll: checkWebhook,
})

export type WebhookSource = SourceOf<typeof webhookSource>

/** What a signature is made with, by the source that it is made for. */
function schemeOf({ signature: value }: Json): string {
  return isObject(value) && typeof value['scheme'] === 'string' ? value['scheme'] : ''
}

/** What is wrong with a secret for signatures of a scheme. */
function secretProblem(scheme: string, secret: string): string | undefined {
  if (secret === secretMark) return undefined
  if (scheme !== 'standard-webhooks') {
    if (secret.length >= secretLengthMin) return undefined
    return `must have at least ${secretLengthMin} characters`
  }
  const { min, max } = standardSecretBytes
  const base64 = secret.replace(/^whsec_/, '')
  const { length } = Buffer.from(base64, 'base64')
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(base64)
  if (isBase64 && length >= min && length <= max) return undefined
  return `must be base64 of ${min} to ${max} bytes, as whsec_…`
}

function checkWebhook(source: Json, problems: Problems): void {
  const { signature: given, credentials, format } = source
  if (format === 'sparkplug') problems.add('format', 'sparkplug comes from brokers only')
  const scheme = schemeOf(source)
  if (scheme === 'standard-webhooks' && source['idHeader'] !== undefined) {
    problems.add('idHeader', 'is that of the specification with standard-webhooks')
  }
  const secret = isObject(credentials) ? credentials['secret'] : undefined
  const problem = typeof secret === 'string' ? secretProblem(scheme, secret) : undefined
  if (problem !== undefined) problems.within('credentials').add('secret', problem)
  if (isObject(given)) checkSignature(source, given, problems.within('signature'))
}

/** Says what is wrong with keys of a signature beside each other. */
function checkSignature(source: Json, given: Json, problems: Problems): void {
  const { scheme, header, parameter, timestampHeader, tolerance, signedContent: content } = given
  const isOwn = scheme === 'hmac' || scheme === 'token'
  const hasParameter = scheme === 'token' && parameter !== undefined
  if (isOwn && header === undefined && !hasParameter) {
    problems.add('header', `is required with ${scheme}`)
  }
  if (parameter !== undefined && scheme !== 'token') {
    problems.add('parameter', 'is only for the scheme token')
  }
  if (hasParameter && header !== undefined) problems.add('parameter', 'stands in place of header')
  const ofToken = ['header', 'prefix']
  const ofHmac = ['algorithm', 'encoding', 'timestampHeader', 'signedContent', ...ofToken]
  const unfit = scheme === 'hmac' ? [] : ofHmac.filter((key) => !(isOwn && ofToken.includes(key)))
  for (const key of unfit) {
    if (given[key] !== undefined) problems.add(key, 'is only for the scheme hmac')
  }
  const isTimed = timestampHeader !== undefined || timedSchemes.includes(String(scheme))
  if (tolerance !== undefined && !isTimed) problems.add('tolerance', 'needs a time that is signed')
  if (scheme !== 'hmac' || typeof content !== 'string') return
  const names = { '{timestamp}': timestampHeader, '{id}': source['idHeader'] }
  for (const [place, named] of Object.entries(names)) {
    const isThere = content.includes(place)
    if (isThere && named === undefined) problems.add('signedContent', `${place} has no header`)
  }
  // Anybody could else give an old message a new time.
  if (timestampHeader !== undefined && !content.includes('{timestamp}')) {
    problems.add('signedContent', 'must have {timestamp} in it, as there is a timestampHeader')
  }
}
