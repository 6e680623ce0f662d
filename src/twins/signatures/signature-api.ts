import type { Static } from 'typebox'
import { DomainError, invalidParameter } from '../../core/errors.ts'
import { signatureProblem } from '../../ledgers/signatures/check-signature.ts'
import {
  parseSignatureKey,
  type SignatureJwk,
  signatureAlgorithms,
} from '../../ledgers/signatures/signature-key.ts'
import * as s from '../../requests/http/schema.ts'
import { failureSchema, progressSchema, statusSchema } from '../progress/progress-api.ts'
import type { BroughtSignature } from './signature.ts'

const algorithm = s.choice(signatureAlgorithms)

const publicKeySchema = {
  type: 'object',
  required: ['kty', 'crv', 'x'],
  properties: {
    kty: { type: 'string', enum: ['OKP', 'EC'] },
    crv: { type: 'string', enum: ['Ed25519', 'P-256'] },
    x: { type: 'string', examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'] },
    y: { type: 'string', description: 'Of P-256 only.' },
  },
  description: 'A JWK (RFC 7517).',
} as const

export const signatureSchema = s.component(
  'Signature',
  s.record({
    id: s.uuid,
    created_at: s.dateTime,
    attachment_id: s.uuid,
    signed_by: {
      ...s.nullable(s.text),
      description:
        'The username of the user who has asked for it or brought it; null for a deleted user.',
    },
    algorithm,
    public_key: s.nullable(
      s.typed<SignatureJwk>({ ...publicKeySchema, additionalProperties: false }),
    ),
    signature: {
      ...s.text,
      description: 'base64url; empty as long as the service has not signed.',
    },
    signed_text: {
      ...s.text,
      description: 'What is signed, in UTF-8; empty as long as the content is not there.',
    },
    cid: { ...s.text, description: 'Of the content, once it is signed or checked.' },
    status: statusSchema,
    tx_hash: s.text,
    failure: failureSchema,
    progress: s.listOf(progressSchema),
  }),
)

/** A text of base64 without padding of 64 bytes has 86 characters; what is longer is none. */
const signatureCharsMax = 1_024

export const newSignatureSchema = s.component(
  'NewSignature',
  s.partial(
    {
      algorithm,
      // What it may have is looked at by `parseSignatureKey`, which says nothing of it again.
      public_key: s.typed<Readonly<Record<string, unknown>>>({
        type: 'object',
        properties: {
          kty: { description: '`OKP` for Ed25519, `EC` for ES256.' },
          crv: { description: '`Ed25519` or `P-256`.' },
          x: { description: 'base64url.' },
          y: { description: 'base64url, for ES256.' },
        },
        description: 'The public key (JWK, RFC 7517). A private one is refused.',
      }),
      signature: {
        ...s.text,
        maxLength: signatureCharsMax,
        description:
          'base64url of 64 bytes: R and S of Ed25519 (RFC 8032), or r and s of ES256 (RFC 7518, section 3.4).',
      },
    },
    {
      description:
        'Empty to have the service sign; or all three, of the text in docs/signatures.md.',
      examples: [{}],
    },
  ),
)

/**
 * The signature that a body brings along; undefined for one that asks the service to sign.
 *
 * @throws DomainError `invalid_request` for a key that is none, `signature_mismatch` for what is no signature of any text
 */
export function broughtSignature(
  body: Static<typeof newSignatureSchema>,
): BroughtSignature | undefined {
  const { algorithm: given, public_key: publicKey, signature } = body
  if (given === undefined && publicKey === undefined && signature === undefined) return undefined
  if (given === undefined) throw missing('algorithm')
  if (publicKey === undefined) throw missing('public_key')
  if (signature === undefined) throw missing('signature')
  const key = parseSignatureKey(given, publicKey)
  if ('problem' in key) {
    throw invalidParameter(['public_key', key.member].filter(Boolean).join('.'), key.problem)
  }
  const problem = signatureProblem(given, signature)
  if (problem !== undefined) throw mismatch(`the signature ${problem}`)
  return { key, signature }
}

function missing(name: string): DomainError {
  return invalidParameter(name, 'is missing: a signature that is brought has all three members')
}

export function mismatch(message: string): DomainError {
  return new DomainError('signature_mismatch', message)
}

export const contentKeysSchema = s.record({
  keys: s.listOf(
    s.record({
      kty: s.typed<'OKP'>({ const: 'OKP' }),
      crv: s.typed<'Ed25519'>({ const: 'Ed25519' }),
      x: s.text,
      kid: { ...s.text, description: 'RFC 7638 thumbprint.' },
      alg: s.typed<'EdDSA'>({ const: 'EdDSA' }),
      use: s.typed<'sig'>({ const: 'sig' }),
      role: {
        ...s.typed<'content'>({ const: 'content' }),
        description: 'What it signs: no blocks, and no tokens.',
      },
      created_at: s.dateTime,
      retired_at: {
        ...s.nullable(s.dateTime),
        description: 'From then on it has signed nothing; null for the one that signs.',
      },
    }),
  ),
})

export const contentKeySchema = s.record({ kid: s.text })
