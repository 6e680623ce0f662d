import {
  duration,
  type Json,
  oneOf,
  type Problems,
  part,
  type Rule,
  text,
} from '../definition-problems.ts'
import { isObject } from '../field-map.ts'
import { secretMark } from '../source-secrets.ts'
import type { SourceRules } from './source-rules.ts'

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

/** Schemes that sign a time, so that what is too old can be told. */
const timedSchemes = ['standard-webhooks', 'stripe', 'slack']

/** A shorter secret can be guessed. */
const secretLengthMin = 8

/** Bytes of a secret of Standard Webhooks: section "Signature scheme" of its specification. */
const standardSecretBytes = { min: 24, max: 64 } as const

/** RFC 9110, section 5.1. */
const headerName: Rule = (value, key, problems) => {
  if (typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(value)) return
  problems.add(key, 'must be the name of a header')
}

/** What the signature is made of: a text with the body in it, once. */
const signedContent: Rule = (value, key, problems) => {
  const isText = typeof value === 'string' && value.length <= 200
  if (isText && value.split('{body}').length === 2) return
  problems.add(key, 'must be a text of up to 200 characters with {body} in it, once')
}

const prefix: Rule = (value, key, problems) => {
  if (typeof value === 'string' && /^[\x20-\x7e]{1,50}$/.test(value)) return
  problems.add(key, 'must be 1 to 50 printable characters')
}

const signature = part(
  {
    scheme: oneOf(...schemes),
    header: headerName,
    algorithm: oneOf('sha256', 'sha512', 'sha1'),
    encoding: oneOf('hex', 'base64', 'base64url'),
    prefix,
    timestampHeader: headerName,
    signedContent,
    tolerance: duration,
  },
  ['scheme'],
)

/** The address of a stream that others send to, and what they prove by that it is them. */
export const webhookSource: SourceRules = {
  rules: {
    signature,
    credentials: part({ secret: text }, ['secret']),
    idHeader: headerName,
    eventTypeHeader: headerName,
  },
  required: ['signature', 'credentials'],
  checkAll: checkWebhook,
}

/** Whether others send to an address that is the stream's own. */
export function isInbound({ protocol }: Json): boolean {
  return protocol === 'webhook'
}

/** The scheme that messages to a source are signed with; empty where there is none. */
export function signingSchemeOf({ signature: value }: Json): string {
  return isObject(value) && typeof value['scheme'] === 'string' ? value['scheme'] : ''
}

/** The problem of a secret for signatures of a scheme, if there is one. */
export function signingSecretProblem(scheme: string, secret: string): string | undefined {
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
  const scheme = signingSchemeOf(source)
  if (scheme === 'standard-webhooks' && source['idHeader'] !== undefined) {
    problems.add('idHeader', 'is that of the specification with standard-webhooks')
  }
  const secret = isObject(credentials) ? credentials['secret'] : undefined
  const problem = typeof secret === 'string' ? signingSecretProblem(scheme, secret) : undefined
  if (problem !== undefined) problems.within('credentials').add('secret', problem)
  if (isObject(given)) checkSignature(source, given, problems.within('signature'))
}

/** Checks the keys that only make sense together. */
function checkSignature(source: Json, given: Json, problems: Problems): void {
  const { scheme, header, timestampHeader, tolerance, signedContent: content } = given
  const isOwn = scheme === 'hmac' || scheme === 'token'
  if (isOwn && header === undefined) problems.add('header', `is required with ${scheme}`)
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
  // Else anybody could give an old message a new time.
  if (timestampHeader !== undefined && !content.includes('{timestamp}')) {
    problems.add('signedContent', 'must have {timestamp} in it, as there is a timestampHeader')
  }
}
