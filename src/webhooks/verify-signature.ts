import { createHmac, timingSafeEqual } from 'node:crypto'

/** Of a delivery, as it came. */
export interface SignedDelivery {
  /** The body exactly as it came over the wire; a parsed and rewritten one has another signature. */
  readonly body: string | Uint8Array
  /** Names in any case, as the servers of Node and the Fetch API give them. */
  readonly headers: DeliveryHeaders
}

export type DeliveryHeaders =
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** The header with the signature, and the one that comes with it while a secret is being rotated. */
const signatureHeaders = ['x-service-signature', 'x-service-signature-next']

/**
 * Whether a delivery was signed with one of the secrets, in a time that does not depend on where
 * signatures differ. Takes both formats: `sha256=<hex>` of the emitted set, and the plain hex of the
 * forthcoming one.
 *
 * @param secrets one, or during a rotation the old and the new one
 */
export function verifySignature(
  { body, headers }: SignedDelivery,
  ...secrets: readonly string[]
): boolean {
  const given = signatureHeaders
    .map((name) => valueOf(headers, name))
    .filter((value) => value !== undefined)
    .map((value) => Buffer.from(value.replace(/^sha256=/, '')))
  let found = 0
  for (const secret of secrets) {
    if (secret === '') continue
    const expected = Buffer.from(signatureOf(body, secret))
    for (const signature of given) {
      if (signature.length !== expected.length) continue
      found |= Number(timingSafeEqual(signature, expected))
    }
  }
  return found === 1
}

/** HMAC-SHA256 over the exact bytes, keyed with the UTF-8 bytes of the secret: hex (D36). */
export function signatureOf(body: string | Uint8Array, secret: string): string {
  return createHmac('sha256', Buffer.from(secret)).update(body).digest('hex')
}

function valueOf(headers: DeliveryHeaders, wanted: string): string | undefined {
  if (headers instanceof Headers) return headers.get(wanted) ?? undefined
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === wanted && typeof value === 'string') return value
  }
  return undefined
}
