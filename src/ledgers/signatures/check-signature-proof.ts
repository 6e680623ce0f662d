import { checkProof, type Verdict } from '../proofs/check-proof.ts'
import { parseCid, rawCidOf } from '../proofs/content-id.ts'
import { Contradiction, members, oneOf, text } from '../proofs/exact-members.ts'
import { proofCharsMax } from '../proofs/parse-proof.ts'
import { isSignedBy } from './check-signature.ts'
import { parseSignatureKey, type SignatureAlgorithm, signatureAlgorithms } from './signature-key.ts'
import { signatureProofFormat } from './signature-proof.ts'
import { signingText } from './signing-text.ts'

const metadataCharsMax = 4_096

/** What the proof of a signature is asked. */
export interface SignatureQuestion {
  /** CIDs of content that somebody has; without them, whatever is signed is meant. */
  readonly contentCids?: readonly string[]
  /** Ids of keys of the ledger that somebody got in another way than by the proof. */
  readonly trustedKeys: ReadonlySet<string>
}

/** What a signature says once it was checked. */
export interface SignedContent {
  /** CID of the content. */
  readonly cid: string
  readonly algorithm: SignatureAlgorithm
  /** RFC 7638 thumbprint of the key. */
  readonly keyId: string
}

export interface SignatureVerdict {
  readonly verdict: Verdict
  /** Undefined where it does not come to that. */
  readonly signed: SignedContent | undefined
}

/** Whether a text wants to be the proof of a signature. */
export function isSignatureProof(given: string): boolean {
  if (given.length > proofCharsMax) return false
  try {
    const value = JSON.parse(given) as { readonly format?: unknown } | null
    return value?.format === signatureProofFormat
  } catch {
    return false
  }
}

/** What the proof of a signature shows that somebody brings as text. Never throws: whatever it is, it gets a verdict. */
export async function checkSignatureProof(
  given: string,
  question: SignatureQuestion,
): Promise<SignatureVerdict> {
  try {
    return await verdictOf(given, question)
  } catch (error) {
    const reason = error instanceof Contradiction ? error.message : 'it could not be read'
    return { verdict: { is: 'contradicted', reason }, signed: undefined }
  }
}

async function verdictOf(
  given: string,
  { contentCids, trustedKeys }: SignatureQuestion,
): Promise<SignatureVerdict> {
  if (given.length > proofCharsMax) throw new Contradiction('it is longer than any proof')
  const said = members(JSON.parse(given), 'the proof', ['format', 'metadata', 'proof'])
  oneOf(said['format'], 'format', [signatureProofFormat])
  const metadata = text(said['metadata'], 'metadata', metadataCharsMax)
  const signed = await signedBy(metadata)
  const cids = [await rawCidOf(Buffer.from(metadata))]
  const named = (said['proof'] as { readonly cid?: unknown } | null)?.cid
  if (named !== cids[0]) throw new Contradiction('the proof is not of the metadata beside it')
  const verdict = checkProof(said['proof'], { cids, trustedKeys })
  if (verdict.is !== 'contradicted' && contentCids?.includes(signed.cid) === false) {
    return { verdict: { is: 'not_found', reason: 'the signature is of other content' }, signed }
  }
  return { verdict, signed: verdict.is === 'contradicted' ? undefined : signed }
}

/** In the order in which they are written. */
const memberNames = [
  'algorithm',
  'cid',
  'created_at',
  'format',
  'public_key',
  'signature',
  'signed_text',
  'type',
]

/** @throws Contradiction where the signature is none of its key over the text that names the content */
async function signedBy(metadata: string): Promise<SignedContent> {
  const said = members(JSON.parse(metadata), 'metadata', memberNames)
  // Written in another way, it could be read as something else by somebody else.
  if (JSON.stringify(said, memberNames) !== metadata) {
    throw new Contradiction('metadata is not written as metadata are')
  }
  oneOf(said['type'], 'metadata.type', ['signature'])
  oneOf(said['format'], 'metadata.format', ['streamvault-metadata-1'])
  const part = (name: string) => text(said[name], `metadata.${name}`, metadataCharsMax)
  const algorithm = oneOf(said['algorithm'], 'metadata.algorithm', signatureAlgorithms)
  const jwk = JSON.parse(part('public_key')) as unknown
  const names = algorithm === 'ES256' ? ['kty', 'crv', 'x', 'y'] : ['kty', 'crv', 'x']
  const key = parseSignatureKey(
    algorithm as SignatureAlgorithm,
    members(jwk, 'metadata.public_key', names),
  )
  if ('problem' in key) throw new Contradiction(`metadata.public_key: ${key.problem}`)
  if (key.text !== said['public_key']) {
    throw new Contradiction('metadata.public_key is not written as keys are')
  }
  const cid = part('cid')
  const parsed = await parseCid(cid)
  if (!('cid' in parsed) || parsed.cid !== cid) throw new Contradiction('metadata.cid is not a CID')
  if (part('signed_text') !== signingText(cid)) {
    throw new Contradiction('metadata.signed_text is not the text that names the content')
  }
  if (!isSignedBy(key, signingText(cid), part('signature'))) {
    throw new Contradiction('metadata.signature is not that of the key over the text')
  }
  return { cid, algorithm: key.algorithm, keyId: key.id }
}
