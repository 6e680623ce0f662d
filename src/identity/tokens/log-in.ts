import type { AttemptLimits } from '../../access/auth/attempt-limits.ts'
import type { AuthenticatedCaller, Authenticator } from '../../access/auth/authenticate.ts'
import { DomainError } from '../../core/errors.ts'

export interface LogInNeeds {
  readonly authenticator: Pick<Authenticator, 'byKey' | 'lookUpPassword'>
  readonly limits: AttemptLimits
}

/** A key and its secret, and what becomes of them. */
export interface LogIn {
  readonly apiKey: string
  readonly apiSecret: string
  readonly address: string
  /** Why whoever has proved to have the key is let in no further; undefined: they are. */
  readonly refusal: (caller: AuthenticatedCaller) => string | undefined
}

/**
 * Who has a key and its secret. A key of the wrong kind is refused as a wrong secret is, and counted as one.
 *
 * @throws DomainError `invalid_api_key`, or `rate_limited` (decisions.md#failed-logins)
 */
export async function logIn(
  { authenticator, limits }: LogInNeeds,
  { apiKey, apiSecret, address, refusal }: LogIn,
): Promise<AuthenticatedCaller> {
  limits.assertMayTry(address, apiKey)
  await authenticator.lookUpPassword(apiKey, apiSecret)
  try {
    const caller = authenticator.byKey(apiKey, apiSecret, { address, protocol: 'http' })
    const refused = refusal(caller)
    if (refused !== undefined) throw new DomainError('invalid_api_key', refused)
    limits.succeeded(address, apiKey)
    return caller
  } catch (error) {
    if (error instanceof DomainError) limits.failed(address, apiKey)
    throw error
  }
}
