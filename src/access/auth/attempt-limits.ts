import { monotonicMs } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import { networkOf } from '../../core/network-of.ts'
import { type Rate, RateLimiter } from '../../core/rate-limiter.ts'

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

/** How much is remembered of a key that somebody claims to have. */
const rememberedCharacters = 100

/**
 * The limits of `POST /auth/token` (decisions.md#failed-logins). Known and unknown keys are the
 * same to them.
 */
export class AttemptLimits {
  readonly #failuresOfPair: RateLimiter
  readonly #failuresOfKey: RateLimiter
  readonly #failuresOfAddress: RateLimiter
  readonly #tokensOfKey: RateLimiter
  readonly #tokensOfAddress: RateLimiter

  /** @param nowMs the monotonic clock */
  constructor(nowMs = monotonicMs) {
    this.#failuresOfPair = new RateLimiter(tokenRates.failuresOfPair, nowMs)
    this.#failuresOfKey = new RateLimiter(tokenRates.failuresOfKey, nowMs)
    this.#failuresOfAddress = new RateLimiter(tokenRates.failuresOfAddress, nowMs)
    this.#tokensOfKey = new RateLimiter(tokenRates.tokensOfKey, nowMs)
    this.#tokensOfAddress = new RateLimiter(tokenRates.tokensOfAddress, nowMs)
  }

  /** Before the secret is looked at. @throws DomainError `rate_limited` */
  assertMayTry(address: string, keyId: string): void {
    const from = networkOf(address)
    const waitS = Math.max(
      this.#failuresOfPair.waitS(pairOf(address, keyId)),
      this.#tokensOfKey.waitS(keyId),
      this.#tokensOfAddress.waitS(from),
    )
    if (waitS > 0) throw limited(waitS)
  }

  /** Before the password of a login that makes no token is looked at. @throws DomainError `rate_limited` */
  assertMayLogIn(address: string, keyId: string): void {
    const waitS = this.#failuresOfPair.waitS(pairOf(address, keyId))
    if (waitS > 0) throw limited(waitS)
  }

  succeeded(address: string, keyId: string): void {
    this.#tokensOfKey.count(keyId)
    this.#tokensOfAddress.count(networkOf(address))
  }

  countFailure(address: string, keyId: string): void {
    this.#failuresOfPair.count(pairOf(address, keyId))
    this.#failuresOfKey.count(keyId.slice(0, rememberedCharacters))
    this.#failuresOfAddress.count(networkOf(address))
  }

  /**
   * Failures of a whole address, or of a key from everywhere, never keep out who has the right
   * secret: else anybody who knows a key's id could lock out its owner, or a neighbour behind the
   * same address. They only turn further failures away.
   *
   * @throws DomainError `rate_limited` when this one is beyond the rate
   */
  failed(address: string, keyId: string): void {
    const from = networkOf(address)
    const waitS = Math.max(this.#failuresOfKey.waitS(keyId), this.#failuresOfAddress.waitS(from))
    this.countFailure(address, keyId)
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
