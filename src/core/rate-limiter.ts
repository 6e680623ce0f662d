import { monotonicMs } from './clock.ts'
import { LruMap } from './lru-map.ts'

/** How often something may happen: `burst` at once, and then `perSecond`. */
export interface Rate {
  readonly burst: number
  readonly perSecond: number
}

/** Names that are remembered, such as addresses, keys and pairs of them. */
const remembered = 20_000

/**
 * One rate for each of many names: the generic cell rate algorithm, one number for each name. What
 * is forgotten begins anew, so memory is bounded. It goes by the monotonic clock: whatever happens to the
 * other one, nobody is kept out for longer, or let in sooner.
 */
export class RateLimiter {
  /** The moment (ms) at which a name will have nothing against it any more. */
  readonly #clearAtMs = new LruMap<string, number>(remembered)
  readonly #intervalMs: number
  readonly #toleranceMs: number
  readonly #nowMs: () => number

  /** @param nowMs the monotonic clock */
  constructor({ burst, perSecond }: Rate, nowMs = monotonicMs) {
    this.#nowMs = nowMs
    this.#intervalMs = 1_000 / perSecond
    this.#toleranceMs = (burst - 1) * this.#intervalMs
  }

  /** Seconds until another one is within the rate: 0 when it is now. */
  waitS(name: string): number {
    const nowMs = this.#nowMs()
    const clearAtMs = this.#clearAtMs.get(name) ?? nowMs
    return Math.max(0, Math.ceil((clearAtMs - this.#toleranceMs - nowMs) / 1_000))
  }

  /** Counts one. */
  count(name: string): void {
    const nowMs = this.#nowMs()
    const clearAtMs = Math.max(this.#clearAtMs.get(name) ?? 0, nowMs)
    // What is refused does not make the wait longer: it would never end for a stubborn client.
    const latestMs = nowMs + this.#toleranceMs + this.#intervalMs
    this.#clearAtMs.set(name, Math.min(clearAtMs + this.#intervalMs, latestMs))
  }
}
