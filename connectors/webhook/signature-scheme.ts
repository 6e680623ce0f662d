import { type BinaryToTextEncoding, createSecretKey, hash, type KeyObject } from 'node:crypto'
import { durationUs } from '../../src/core/duration.ts'
import type { WebhookSource } from './source.ts'

/** What a header of signatures says. */
interface SignatureHeader {
  readonly signatures: readonly string[]
  /** Where it has the time that is signed, too. */
  readonly timestamp?: string | undefined
}

/** How the messages of one sender are signed. Names of headers are in lower case. */
export interface SignatureScheme {
  readonly header: string
  /** The parameter of the address that has a secret in place of a header. */
  readonly parameter?: string | undefined
  readonly read: (text: string) => SignatureHeader
  /** Undefined: the header has a secret itself. */
  readonly mac: Mac | undefined
  readonly timestampHeader?: string | undefined
  readonly idHeader?: string | undefined
  /** The id is signed: no message goes without. */
  readonly isIdRequired: boolean
  readonly eventTypeHeader?: string | undefined
  readonly toleranceUs: number
}

export interface Mac {
  readonly algorithm: string
  readonly encoding: BinaryToTextEncoding
  /** What is signed, in its order: texts, and places that are `{id}`, `{timestamp}` or `{body}`. */
  readonly parts: readonly string[]
}

/** How old a message may be, and how far ahead the clock of its sender, where nothing is said. */
const usualToleranceUs = 300_000_000

const hex = { algorithm: 'sha256', encoding: 'hex', parts: ['{body}'] } as const

type Preset = Omit<SignatureScheme, 'toleranceUs' | 'isIdRequired'>

const presets: Readonly<Record<string, Preset>> = {
  // Standard Webhooks, sections "Signature scheme" and "Webhook headers".
  'standard-webhooks': {
    header: 'webhook-signature',
    read: (text) => ({ signatures: withPrefix(text.split(' '), 'v1,') }),
    mac: { ...hex, encoding: 'base64', parts: ['{id}', '.', '{timestamp}', '.', '{body}'] },
    timestampHeader: 'webhook-timestamp',
    idHeader: 'webhook-id',
  },
  // GitHub: "Validating webhook deliveries".
  github: {
    header: 'x-hub-signature-256',
    read: (text) => ({ signatures: withPrefix([text], 'sha256=') }),
    mac: hex,
    idHeader: 'x-github-delivery',
    eventTypeHeader: 'x-github-event',
  },
  // Stripe: "Verify webhook signatures manually".
  stripe: {
    header: 'stripe-signature',
    read: (text) => {
      const items = text.split(',')
      const [timestamp] = withPrefix(items, 't=')
      return { signatures: withPrefix(items, 'v1='), timestamp }
    },
    mac: { ...hex, parts: ['{timestamp}', '.', '{body}'] },
  },
  // Slack: "Verifying requests from Slack".
  slack: {
    header: 'x-slack-signature',
    read: (text) => ({ signatures: withPrefix([text], 'v0=') }),
    mac: { ...hex, parts: ['v0:', '{timestamp}', ':', '{body}'] },
    timestampHeader: 'x-slack-request-timestamp',
  },
  // Shopify: "Verify webhook deliveries".
  shopify: {
    header: 'x-shopify-hmac-sha256',
    read: (text) => ({ signatures: [text] }),
    mac: { ...hex, encoding: 'base64' },
    idHeader: 'x-shopify-webhook-id',
    eventTypeHeader: 'x-shopify-topic',
  },
}

/** How the messages of a source are signed. */
export function signatureScheme({
  signature,
  idHeader,
  eventTypeHeader,
}: WebhookSource): SignatureScheme {
  const preset = presets[signature.scheme] ?? ownScheme(signature)
  const isStandard = signature.scheme === 'standard-webhooks'
  return {
    ...preset,
    // What is signed is what the specification says.
    idHeader: isStandard ? preset.idHeader : (lowerCase(idHeader) ?? preset.idHeader),
    isIdRequired: preset.mac?.parts.includes('{id}') === true,
    eventTypeHeader: lowerCase(eventTypeHeader) ?? preset.eventTypeHeader,
    toleranceUs: durationUs(signature.tolerance) ?? usualToleranceUs,
  }
}

/** A signature or a secret in a header that somebody has chosen. */
function ownScheme(given: WebhookSource['signature']): Preset {
  const { algorithm = 'sha256', encoding = 'hex', prefix = '', timestampHeader } = given
  const usual = timestampHeader === undefined ? '{body}' : '{timestamp}.{body}'
  const { signedContent: content = usual } = given
  return {
    header: lowerCase(given.header) ?? '',
    parameter: given.parameter,
    read: (text) => ({ signatures: withPrefix([text], prefix) }),
    mac:
      given.scheme === 'token'
        ? undefined
        : {
            algorithm,
            encoding,
            parts: content.split(/(\{(?:id|timestamp|body)\})/).filter((part) => part !== ''),
          },
    timestampHeader: lowerCase(timestampHeader),
  }
}

/** What a secret comes to as a key. */
export function keyOf(scheme: unknown, secret: string): KeyObject {
  if (scheme !== 'standard-webhooks') return createSecretKey(Buffer.from(secret))
  const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  // With a key of no bytes anybody could sign: one that nobody knows is safer.
  return createSecretKey(bytes.length === 0 ? hash('sha512', secret, 'buffer') : bytes)
}

function withPrefix(items: readonly string[], prefix: string): readonly string[] {
  return items.filter((item) => item.startsWith(prefix)).map((item) => item.slice(prefix.length))
}

function lowerCase(name: string | undefined): string | undefined {
  return name?.toLowerCase()
}
