import { DomainError } from './errors.ts'

const headerName = 'idempotency-key'

const keyCharactersMax = 255

/** The headers of a request: by name, and as they came, names and values alternating. */
interface RequestHead {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly rawHeaders: readonly string[]
}

/**
 * The key of a request that may be sent again (decisions.md#idempotency-key), if it has one.
 *
 * @throws DomainError `invalid_request` for a key that is empty or too long, or for two of them:
 *   Node would join them to a third one
 */
export function idempotencyKeyOf({ headers, rawHeaders }: RequestHead): string | undefined {
  const key = headers[headerName]
  if (key === undefined) return undefined
  const given = rawHeaders.filter(
    (text, index) => index % 2 === 0 && text.toLowerCase() === headerName,
  )
  if (given.length > 1) {
    throw new DomainError('invalid_request', 'Idempotency-Key came more than once')
  }
  if (typeof key === 'string' && key !== '' && key.length <= keyCharactersMax) return key
  throw new DomainError(
    'invalid_request',
    `Idempotency-Key must have 1 to ${keyCharactersMax} characters`,
  )
}

/** Digests keyed with the master key: of no use without it. */
export interface SecretDigests {
  digest(text: string): string
}

/**
 * What is written down of a key. With credentials that may ask again, a key is as good as the secret in the answer,
 * and clients that make theirs in one way use it for everything: none is kept as it came.
 */
export function keptKey(digests: SecretDigests, key: string): string {
  return digests.digest(`Idempotency-Key ${key}`)
}

/** Digest that is kept of a body: a plain one would let a secret in it be guessed. */
export function keptBodyDigest(digests: SecretDigests, bodyDigest: string): string {
  return digests.digest(`body under an Idempotency-Key ${bodyDigest}`)
}

/** What to say of a key that came with another body before. */
export function idempotencyConflict(): DomainError {
  return new DomainError('idempotency_conflict', 'this Idempotency-Key was used with another body')
}
