import { type KeyObject, sign, verify } from 'node:crypto'
import { bigEndian, littleEndian, order256, order25519 } from './curves.ts'
import {
  canonicalBytes,
  type SignatureAlgorithm,
  type SignatureKey,
  verifierOf,
} from './signature-key.ts'

/** Two numbers of 32 bytes: R and S (RFC 8032), or r and s (RFC 7518, section 3.4). */
const signatureBytes = 64
const halfBytes = 32

/**
 * Why a text is no signature of an algorithm, whatever it may be of; undefined where it is one. That S is below the
 * order keeps others from making a second one of it.
 */
export function signatureProblem(algorithm: SignatureAlgorithm, text: string): string | undefined {
  const bytes = canonicalBytes(text, signatureBytes)
  if (!bytes) return `must be ${signatureBytes} bytes in base64url, without padding`
  const [first, second] = [bytes.subarray(0, halfBytes), bytes.subarray(halfBytes)]
  if (algorithm === 'Ed25519') {
    return littleEndian(second) < order25519 ? undefined : 'has an S that is not below the order'
  }
  const isWithin = [first, second].every(
    (half) => bigEndian(half) > 0n && bigEndian(half) < order256,
  )
  return isWithin ? undefined : 'has numbers that are not between 0 and the order'
}

/** Whether a text was signed with a key. */
export function isSignedBy(
  key: SignatureKey,
  text: string | Uint8Array,
  signature: string,
): boolean {
  if (signatureProblem(key.algorithm, signature) !== undefined) return false
  const bytes = Buffer.from(signature, 'base64url')
  const publicKey = verifierOf(key)
  const message = typeof text === 'string' ? Buffer.from(text) : text
  return key.algorithm === 'Ed25519'
    ? verify(null, message, publicKey, bytes)
    : verify('sha256', message, { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes)
}

/**
 * The other signature that anybody can make of one of ES256: with (r, s) also (r, n - s) is one of the same text.
 * Undefined for Ed25519, which has none.
 */
export function otherForm(algorithm: SignatureAlgorithm, signature: string): string | undefined {
  if (algorithm !== 'ES256') return undefined
  const bytes = Buffer.from(signature, 'base64url')
  const other = order256 - bigEndian(bytes.subarray(halfBytes))
  const s = Buffer.from(other.toString(16).padStart(2 * halfBytes, '0'), 'hex')
  return Buffer.concat([bytes.subarray(0, halfBytes), s]).toString('base64url')
}

/** Signs a text with a private key of Ed25519; in base64url. */
export function signed(text: string, privateKey: KeyObject): string {
  return sign(null, Buffer.from(text), privateKey).toString('base64url')
}
