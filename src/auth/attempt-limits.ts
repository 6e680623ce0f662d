import { DomainError } from '../core/errors.ts'
import { LruMap } from '../core/lru-map.ts'
import { networkOf } from '../core/network-of.ts'

/** How often something may happen: `burst` at once, and then `perSecond`. */
export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

/**
 * Attempts to get a token. Failures are counted strictly, successes only against floods: a key that
 * asks for a token each time it needs one is a bad client, but no attacker.
 */
export const tokenRates = {
  /** Wrong secrets for one key from one address. Beyond it not even the right one is looked at. */
  failuresOfPair: { burst: 10, perSecond: 1 / 6 },
  /** Wrong secrets for one key from anywhere, and for any key from one address. */
  failuresOfKey: { burst: 50, perSecond: 1 / 2 },
  failuresOfAddress: { burst: 100, perSecond: 2 },
  tokensOfKey: { burst: 2_000, perSecond: 100 },
  tokensOfAddress: { burst: 10_000, perSecond: 5_000 },
} as const satisfies Readonly<Record<string, Rate>>

/** Addresses, keys and pairs of them that are remembered of each kind. */
const remembered = 20_000

/**
 * One rate for each of many names: the generic cell rate algorithm, one number for each name. What
 * is forgotten begins anew, so memory is bounded.
 */
export class RateLimiter {
  /** The moment (ms) at which a name will have nothing against it any more. */
  readonly #clearAtMs = new LruMap<string, number>(remembered)
  readonly #intervalMs: number
  readonly #toleranceMs: number

  constructor({ burst, perSecond }: Rate) {
    this.#intervalMs = 1_000 / perSecond
    this.#toleranceMs = (burst - 1) * this.#intervalMs
  }

  /** Seconds until another one is within the rate: 0 when it is now. */
  waitS(name: string, nowMs: number): number {
    const clearAtMs = this.#clearAtMs.get(name) ?? 0
    return Math.max(0, Math.ceil((clearAtMs - this.#toleranceMs - nowMs) / 1_000))
  }

  /** Counts one. */
  count(name: string, nowMs: number): void {
    const clearAtMs = Math.max(this.#clearAtMs.get(name) ?? 0, nowMs)
    // What is refused does not make the wait longer: it would never end for a stubborn client.
    const latestMs = nowMs + this.#toleranceMs + this.#intervalMs
    this.#clearAtMs.set(name, Math.min(clearAtMs + this.#intervalMs, latestMs))
  }
}

/** Of a key that somebody claims to have, this much is remembered. */
const rememberedCharacters = 100

/** The limits of `POST /auth/token` (D11). Known and unknown keys are the same to them. */
export class AttemptLimits {
  readonly #failuresOfPair = new RateLimiter(tokenRates.failuresOfPair)
  readonly #failuresOfKey = new RateLimiter(tokenRates.failuresOfKey)
  readonly #failuresOfAddress = new RateLimiter(tokenRates.failuresOfAddress)
  readonly #tokensOfKey = new RateLimiter(tokenRates.tokensOfKey)
  readonly #tokensOfAddress = new RateLimiter(tokenRates.tokensOfAddress)

  /** Before the secret is looked at. @throws DomainError `rate_limited` */
  assertMayTry(address: string, keyId: string, nowMs: number): void {
    const from = networkOf(address)
    const waitS = Math.max(
      this.#failuresOfPair.waitS(pairOf(address, keyId), nowMs),
      this.#tokensOfKey.waitS(keyId, nowMs),
      this.#tokensOfAddress.waitS(from, nowMs),
    )
    if (waitS > 0) throw limited(waitS)
  }

  /** The same for a login that makes no token. @throws DomainError `rate_limited` */
  assertMayLogIn(address: string, keyId: string, nowMs: number): void {
    const waitS = this.#failuresOfPair.waitS(pairOf(address, keyId), nowMs)
    if (waitS > 0) throw limited(waitS)
  }

  succeeded(address: string, keyId: string, nowMs: number): void {
    this.#tokensOfKey.count(keyId, nowMs)
    this.#tokensOfAddress.count(networkOf(address), nowMs)
  }

  countFailure(address: string, keyId: string, nowMs: number): void {
    this.#failuresOfPair.count(pairOf(address, keyId), nowMs)
    this.#failuresOfKey.count(keyId.slice(0, rememberedCharacters), nowMs)
    this.#failuresOfAddress.count(networkOf(address), nowMs)
  }

  /**
   * Failures of a whole address, or of a key from everywhere, never keep out who has the right
   * secret: else anybody who knows a key's id could lock out its owner, or a neighbour behind the
   * same address. They only turn further failures away.
   *
   * @throws DomainError `rate_limited` when this one is beyond the rate
   */
  failed(address: string, keyId: string, nowMs: number): void {
    const from = networkOf(address)
    const waitS = Math.max(
      this.#failuresOfKey.waitS(keyId, nowMs),
      this.#failuresOfAddress.waitS(from, nowMs),
    )
    this.countFailure(address, keyId, nowMs)
    if (waitS > 0) throw limited(waitS)
  }
}

function pairOf(address: string, keyId: string): string {
  return `${networkOf(address)} ${keyId.slice(0, rememberedCharacters)}`
}

function limited(waitS: number): DomainError {
  return new DomainError('rate_limited', 'too many attempts: try again later', {
    retryAfter: waitS,
  })
}
