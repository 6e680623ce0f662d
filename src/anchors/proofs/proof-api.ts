import type { Static } from 'typebox'
import { ledgers } from '../../core/ledger.ts'
import type { Proof } from '../../ledgers/proofs/proof.ts'
import { type SignatureJwk, signatureAlgorithms } from '../../ledgers/signatures/signature-key.ts'
import type { SignatureProof } from '../../ledgers/signatures/signature-proof.ts'
import * as s from '../../requests/http/schema.ts'

const hash = { ...s.text, description: 'SHA-256, hexadecimal.' }

export const merklePath = s.component(
  'MerklePath',
  s.record(
    { index: s.count, size: s.count, hashes: s.listOf(s.text) },
    { description: 'From a leaf to the root of its tree (RFC 6962, section 2.1.1).' },
  ),
)

const publicKey = s.record({
  kty: s.typed<'OKP'>({ const: 'OKP' }),
  crv: s.typed<'Ed25519'>({ const: 'Ed25519' }),
  x: s.text,
})

const signature = s.record({
  key_id: { ...s.text, description: 'RFC 7638 thumbprint of the key.' },
  algorithm: s.typed<'Ed25519'>({ const: 'Ed25519' }),
  public_key: publicKey,
  signature: { ...s.text, description: 'Of the header: base64.' },
})

const part = s.record({
  name: {
    ...s.text,
    description: 'Empty for the thing itself, else which file of it.',
    examples: ['payload.json'],
  },
  cid: s.text,
  path: optionalPath(),
})

const block = s.record({
  height: s.count,
  time: s.dateTime,
  hash: { ...hash, description: 'SHA-256 of the header, hexadecimal.' },
  header: { ...s.text, description: 'The text that is signed.' },
  path: merklePath,
})

/** Null as long as there is no transaction. */
function optionalPath() {
  return s.typed<Proof['path']>({ anyOf: [merklePath, s.nothing] })
}

/** A proof as it goes over HTTP, and as it is saved in a file. */
export const proofSchema = s.component(
  'Proof',
  s.record(
    {
      format: s.typed<Proof['format']>({ const: 'streamvault-proof-1' }),
      final: {
        ...s.boolean,
        description: 'It is final on the ledger; without that, this is what is known so far.',
      },
      status: { ...s.text, examples: ['COMPLETED'] },
      cid: s.text,
      profile: { ...s.text, description: 'How CIDs are made of files (IPIP-499).' },
      path: optionalPath(),
      parts: s.listOf(part),
      root: s.nullable(hash),
      ledger: {
        ...s.nullable(s.text),
        description: 'The ledger that it was made for; null if it was made from a ledger alone.',
        examples: ['XRPL'],
      },
      network: { ...s.text, description: 'The one that it is on.', examples: ['sandbox'] },
      tx_hash: s.nullable(s.text),
      transaction: {
        ...s.nullable(s.text),
        description: 'The text whose hash is `tx_hash`.',
      },
      token_id: { ...s.text, description: 'Of a vault: its token.' },
      block: s.typed<Proof['block']>({ anyOf: [block, s.nothing] }),
      signatures: s.listOf(signature),
    },
    { optional: ['token_id'] },
  ),
)

/** The proof of a signature, with what was signed. */
export const signatureProofSchema = s.component(
  'SignatureProof',
  s.record({
    format: s.typed<SignatureProof['format']>({ const: 'streamvault-signature-proof-1' }),
    metadata: {
      ...s.text,
      description:
        'The signature as it is anchored: JSON, byte for byte what the CID of the proof is of.',
    },
    proof: proofSchema,
  }),
)

/** A signature of the content that a CID names: nothing of it says whose that is. */
const listedSignature = s.record(
  {
    algorithm: s.choice(signatureAlgorithms),
    public_key: s.typed<SignatureJwk>({
      type: 'object',
      required: ['kty', 'crv', 'x'],
      properties: { kty: s.text, crv: s.text, x: s.text, y: s.text },
      additionalProperties: false,
    }),
    key_id: {
      ...s.text,
      description: 'Where the service has signed: its key in /.well-known/signing-keys.json.',
    },
    signature: { ...s.text, description: 'base64url.' },
    signed_text: s.text,
    signed_at: { ...s.dateTime, description: 'When it was asked for, or brought.' },
    status: { ...s.text, examples: ['COMPLETED'] },
    tx_hash: s.text,
    network: s.text,
  },
  { optional: ['key_id'] },
)

export type ListedSignature = Static<typeof listedSignature>

export const verificationSchema = s.component(
  'VerifiedCid',
  s.record({
    cid: s.text,
    status: { ...s.text, examples: ['COMPLETED'] },
    final: s.boolean,
    ledger: s.choice(ledgers),
    network: s.text,
    tx_hash: s.nullable(s.text),
    block_time: { ...s.nullable(s.dateTime), description: 'When it was on the ledger at latest.' },
    public: {
      ...s.nullable(s.record({ type: s.text, id: s.uuid, name: s.text })),
      description: 'What it is of, where that is public and still there.',
    },
    shows: s.listOf(s.text, { description: 'What that shows, in words.' }),
    does_not_show: s.listOf(s.text),
    signatures: s.listOf(listedSignature, {
      description:
        'Who has signed that content: the first hundred that were checked, the newest last.',
    }),
    proof: proofSchema,
  }),
)

export const ledgerKeysSchema = s.record({
  keys: s.listOf(
    s.record({
      kty: s.typed<'OKP'>({ const: 'OKP' }),
      crv: s.typed<'Ed25519'>({ const: 'Ed25519' }),
      x: s.text,
      kid: { ...s.text, description: 'RFC 7638 thumbprint.' },
      alg: s.typed<'EdDSA'>({ const: 'EdDSA' }),
      use: s.typed<'sig'>({ const: 'sig' }),
      role: { ...s.text, description: '`blocks`, `account` or `distribution`.' },
    }),
  ),
})
