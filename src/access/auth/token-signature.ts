/**
 * One spelling for each signature of ES256 (RFC 7518, section 3.4: r and s, 32 bytes each).
 *
 * With (r, s) also (r, n - s) is a valid signature, and the last character of its base64url has
 * four bits that a lenient decoder ignores. Each would be another text for the same token, so only
 * the low s and the canonical spelling are accepted, and made.
 */
const coordinateBytes = 32
const signatureBytes = 2 * coordinateBytes

/** The order of P-256 (SEC 2, section 2.4.2). */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const halfOrder = toBytes(order >> 1n)

/** Writes a token with the low one of its two possible signatures. */
export function withLowS(token: string): string {
  const start = token.lastIndexOf('.') + 1
  const signature = Buffer.from(token.slice(start), 'base64url')
  const s = signature.subarray(coordinateBytes)
  if (s.compare(halfOrder) <= 0) return token
  const low = toBytes(order - BigInt(`0x${s.toString('hex')}`))
  const r = signature.subarray(0, coordinateBytes)
  return token.slice(0, start) + Buffer.concat([r, low]).toString('base64url')
}

/** Whether the signature of a token is spelled in the one accepted way. */
export function hasCanonicalSignature(token: string): boolean {
  const text = token.slice(token.lastIndexOf('.') + 1)
  const signature = Buffer.from(text, 'base64url')
  return (
    signature.length === signatureBytes &&
    signature.toString('base64url') === text &&
    signature.subarray(coordinateBytes).compare(halfOrder) <= 0
  )
}

function toBytes(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * coordinateBytes, '0'), 'hex')
}
