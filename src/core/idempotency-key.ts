import { DomainError } from './errors.ts'

const keyCharactersMax = 255

/**
 * The key of a request that may be sent again (D8), if it has one.
 *
 * @throws DomainError `invalid_request` for a key that is empty or too long
 */
export function idempotencyKeyOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && key !== '' && key.length <= keyCharactersMax) return key
  throw new DomainError(
    'invalid_request',
    `Idempotency-Key must have 1 to ${keyCharactersMax} characters`,
  )
}

/** What to say of a key that came with another body before. */
export function idempotencyConflict(): DomainError {
  return new DomainError('idempotency_conflict', 'this Idempotency-Key was used with another body')
}
