import jwt from 'jsonwebtoken'
import type { Clock } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { LruMap } from '../../core/lru-map.ts'
import type { Caller } from './caller.ts'
import type { DeviceKey, LimitedKey } from './limited-key.ts'
import type { AcceptedKey, SigningKeys } from './signing-keys.ts'
import { hasCanonicalSignature, withLowS } from './token-signature.ts'

/** Seconds that an access token lives. */
export const tokenLifetimeS = 3600

const issuer = 'streamvault'
const audience = 'streamvault'
const tokenType = 'JWT'

/** Verified tokens that are remembered: a signature check costs a tenth of a millisecond. */
const verifiedMax = 10_000

/** Ours have about 600 characters: what is longer is none of ours, and is not looked at. */
const tokenLengthMax = 2_048

/** Another node's clock may be ahead of ours by this much. */
const clockSkewS = 60

/**
 * What a good token says. It is not the last word: its key may have less by now
 * (decisions.md#tokens).
 */
export interface VerifiedToken extends Caller {
  readonly expiresAtUs: number
}

interface Remembered {
  readonly text: string
  readonly token: VerifiedToken
}

/**
 * Characters at the end of a token that it is remembered by: half of its signature. Each request
 * brings its token as a new string, and all 600 characters would have to be hashed to find it.
 */
const tailLength = 43

export interface TokensNeeds {
  readonly signingKeys: SigningKeys
  readonly clock: Clock
  /** The latest instant that the wall clock has shown before the start: tokens may be as new as that. */
  readonly latestUs?: number
}

/** Issues and checks access tokens: JWT, ES256 (RFC 7519, RFC 7518 section 3.4). */
export class Tokens {
  readonly #needs: TokensNeeds
  /** By their tails. */
  readonly #verified = new LruMap<string, Remembered>(verifiedMax)
  readonly #signedWith = new WeakMap<VerifiedToken, AcceptedKey>()
  /** The latest instant that a token was issued at, or that the clock has shown: it may have been set back since. */
  #latestUs: number

  constructor(needs: TokensNeeds) {
    this.#needs = needs
    this.#latestUs = needs.latestUs ?? 0
  }

  issue({ userId, apiKeyId, scope, device }: Caller & { readonly device?: DeviceKey }): string {
    const { signingKeys, clock } = this.#needs
    const { kid, privateKey } = signingKeys.current
    // After its secret was replaced, although the clock was set back since: older ones are not good.
    const fromS = Math.ceil((device?.tokensFromUs ?? 0) / 1_000_000)
    const nowS = Math.max(Math.floor(clock.nowUs() / 1_000_000), fromS)
    this.#latestUs = Math.max(this.#latestUs, nowS * 1_000_000)
    const token = jwt.sign({ iat: nowS, scope, api_key_id: apiKeyId }, privateKey, {
      algorithm: 'ES256',
      keyid: kid,
      issuer,
      audience,
      subject: userId,
      expiresIn: tokenLifetimeS,
    })
    return withLowS(token)
  }

  /**
   * Answers with the same object for the same token as long as it is remembered.
   *
   * @throws DomainError `token_expired` or `invalid_api_key`
   */
  verify(text: string): VerifiedToken {
    const tail = text.slice(-tailLength)
    const known = this.#verified.get(tail)
    if (known?.text === text) {
      if (!this.#isAccepted(known.token)) throw invalidToken()
      if (this.#hasExpired(known.token)) throw expiredToken()
      return known.token
    }
    const key = this.#keyOf(text)
    const nowUs = this.#needs.clock.nowUs()
    this.#latestUs = Math.max(this.#latestUs, nowUs)
    const times = { nowUs, latestUs: this.#latestUs }
    const token = verifiedToken(signedClaims(text, key, nowUs), times)
    this.#verified.set(tail, { text, token })
    this.#signedWith.set(token, key)
    return token
  }

  /** Whether a token that was verified is still good. */
  isGood(token: VerifiedToken): boolean {
    return this.#isAccepted(token) && !this.#hasExpired(token)
  }

  #isAccepted(token: VerifiedToken): boolean {
    const key = this.#signedWith.get(token)
    return key !== undefined && this.#needs.signingKeys.isAccepted(key)
  }

  #hasExpired({ expiresAtUs }: VerifiedToken): boolean {
    return expiresAtUs <= this.#needs.clock.nowUs()
  }

  /** The key that a token names, when its header is exactly one that we write. */
  #keyOf(text: string): AcceptedKey {
    if (text.length > tokenLengthMax) throw invalidToken()
    const [head = ''] = text.split('.', 1)
    const header = parseObject(Buffer.from(head, 'base64url').toString())
    // Anything more, such as jwk, jku, x5c or crit, wants to be obeyed: nothing in there is.
    const isOurs =
      header !== undefined &&
      Object.keys(header).length === 3 &&
      header['alg'] === 'ES256' &&
      header['typ'] === tokenType
    const kid = isOurs ? header['kid'] : undefined
    const key = typeof kid === 'string' ? this.#needs.signingKeys.find(kid) : undefined
    if (!key) throw invalidToken()
    return key
  }
}

type Claims = Readonly<Record<string, unknown>>

function signedClaims(text: string, { publicKey }: AcceptedKey, nowUs: number): Claims {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text) || !hasCanonicalSignature(text)) throw invalidToken()
  try {
    const claims = jwt.verify(text, publicKey, {
      algorithms: ['ES256'],
      clockTimestamp: Math.floor(nowUs / 1_000_000),
    })
    if (typeof claims === 'object') return claims
  } catch (error) {
    if (error instanceof jwt.TokenExpiredError) throw expiredToken()
  }
  throw invalidToken()
}

/**
 * The claims have our signature; still each must be there, in the form that we write
 * (decisions.md#tokens).
 */
function verifiedToken(
  claims: Claims,
  { nowUs, latestUs }: { readonly nowUs: number; readonly latestUs: number },
): VerifiedToken {
  const { iss, aud, sub, iat, exp, scope, api_key_id: apiKeyId } = claims
  if (iss !== issuer || aud !== audience) throw invalidToken()
  if (typeof sub !== 'string' || typeof scope !== 'string' || typeof apiKeyId !== 'string') {
    throw invalidToken()
  }
  if (typeof iat !== 'number' || typeof exp !== 'number' || exp - iat !== tokenLifetimeS) {
    throw invalidToken()
  }
  if (iat > latestUs / 1_000_000 + clockSkewS) throw invalidToken()
  const expiresAtUs = exp * 1_000_000
  if (expiresAtUs <= nowUs) throw expiredToken()
  return { userId: sub as UserId, apiKeyId, scope, expiresAtUs }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function invalidToken(): DomainError {
  return new DomainError('invalid_api_key', 'the access token is not valid')
}

function expiredToken(): DomainError {
  return new DomainError('token_expired', 'the token has expired')
}

/** Whether a token that ends then was got with a secret that may still be good. */
export function isTokenOf(key: LimitedKey, expiresAtUs: number): boolean {
  if (key.kind !== 'device') return true
  // It may have been issued at any moment of its second.
  const issuedBeforeUs = expiresAtUs - (tokenLifetimeS - 1) * 1_000_000
  return issuedBeforeUs > key.tokensFromUs
}
