import { createHmac, timingSafeEqual } from 'node:crypto'

/** The header with the signature, and the one beside it while a secret is being replaced. */
const signatureHeaders = ['x-service-signature', 'x-service-signature-next']

/**
 * Whether a delivery was signed with one of the secrets. Takes both formats: `sha256=<hex>` of the
 * emitted set, and the plain hex of the forthcoming one. How long it takes does not depend on where
 * signatures differ.
 *
 * For receivers: a plain module without dependencies, that can also be copied.
 */
export function verifySignature({ body, headers }, ...secrets) {
  const given = signatureHeaders
    .map((name) => valueOf(headers, name))
    .filter((value) => typeof value === 'string')
    .map((value) => Buffer.from(value.replace(/^sha256=/, '')))
  let found = 0
  for (const secret of secrets) {
    // An empty secret is a setting that was forgotten: everybody could sign with it.
    if (typeof secret !== 'string' || secret === '') continue
    const hmac = createHmac('sha256', Buffer.from(secret)).update(body)
    const expected = Buffer.from(hmac.digest('hex'))
    for (const signature of given) {
      if (signature.length === expected.length) {
        found |= Number(timingSafeEqual(signature, expected))
      }
    }
  }
  return found === 1
}

function valueOf(headers, wanted) {
  if (typeof headers.get === 'function') return headers.get(wanted)
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === wanted) return value
  }
  return undefined
}
