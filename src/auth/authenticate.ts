import { DomainError } from '../core/errors.ts'
import type { ApiKeys, Caller } from './api-keys.ts'
import type { Tokens } from './tokens.ts'

/** Which of the two interfaces a request speaks: its credentials decide (D1). */
export type Interface = 'bearer' | 'header-key'

export interface AuthenticatedCaller extends Caller {
  readonly interface: Interface
}

/** The part of a request that says who asks: header names and values, alternating, as they came. */
export interface Credentials {
  readonly rawHeaders: readonly string[]
}

interface Presented {
  authorization?: string
  apiKey?: string
  apiSecret?: string
}

export interface AuthenticatorNeeds {
  readonly keys: ApiKeys
  readonly tokens: Tokens
}

export class Authenticator {
  readonly #keys: ApiKeys
  readonly #tokens: Tokens

  constructor({ keys, tokens }: AuthenticatorNeeds) {
    this.#keys = keys
    this.#tokens = tokens
  }

  /**
   * @throws DomainError `missing_credentials`, `ambiguous_credentials`, `invalid_api_key` or
   *   `token_expired`
   */
  async authenticate({ rawHeaders }: Credentials): Promise<AuthenticatedCaller> {
    const { authorization, apiKey, apiSecret } = presented(rawHeaders)
    const hasKey = apiKey !== undefined || apiSecret !== undefined
    if (authorization !== undefined) {
      if (hasKey) throw ambiguous()
      const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
      if (token === undefined) throw new DomainError('invalid_api_key', 'a bearer token is needed')
      return { ...this.#tokens.verify(token), interface: 'bearer' }
    }
    if (!hasKey) throw new DomainError('missing_credentials', 'credentials are needed')
    const caller = await this.#keys.verify(apiKey ?? '', apiSecret ?? '')
    if (!caller) throw new DomainError('invalid_api_key', 'the key or its secret is not valid')
    return { ...caller, interface: 'header-key' }
  }
}

/**
 * The credentials among raw headers. Node would keep the first of two Authorization headers and
 * join two x-api-key headers to "a, b"; here a header that comes twice is no credential (D1).
 */
function presented(rawHeaders: readonly string[]): Presented {
  const found: Presented = {}
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const place = placeOf(rawHeaders[index] as string)
    if (place === undefined) continue
    if (found[place] !== undefined) {
      throw new DomainError('invalid_api_key', `the header ${rawHeaders[index]} came twice`)
    }
    found[place] = rawHeaders[index + 1] as string
  }
  return found
}

function placeOf(name: string): keyof Presented | undefined {
  // Lengths first: most headers are none of the three, and this runs for every request.
  if (name.length !== 9 && name.length !== 12 && name.length !== 13) return undefined
  switch (name.toLowerCase()) {
    case 'authorization':
      return 'authorization'
    case 'x-api-key':
      return 'apiKey'
    case 'x-api-secret':
      return 'apiSecret'
    default:
      return undefined
  }
}

function ambiguous(): DomainError {
  return new DomainError(
    'ambiguous_credentials',
    'send either a bearer token or x-api-key and x-api-secret, not both',
  )
}
