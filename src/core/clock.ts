/** Time as a dependency, so that timers and receipts can be tested without waiting. */
export interface Clock {
  /** Microseconds since the Unix epoch. */
  nowUs(): number
}

/** A difference from the wall clock beyond this is not rounding: the clock was set, or slept. */
const driftMsMax = 20

/** The wall clock with microseconds in between: it follows a clock that is set, or that slept. */
class SystemClock implements Clock {
  #originMs = performance.timeOrigin

  nowUs(): number {
    const elapsedMs = performance.now()
    const wallMs = Date.now()
    if (Math.abs(wallMs - this.#originMs - elapsedMs) > driftMsMax) {
      this.#originMs = wallMs - elapsedMs
    }
    return Math.floor((this.#originMs + elapsedMs) * 1000)
  }
}

export const systemClock: Clock = new SystemClock()

/** A clock that was set back by more than this is believed; a smaller step is only bridged. */
const bridgedUs = 1_000_000

/** Nothing is spared any more when the receipts are so far ahead: they must not seem to be set back. */
const aheadUsMax = bridgedUs / 2

/**
 * Times of receipt: no two messages get the same microsecond.
 *
 * A reading without a time of its own is identified by its time of receipt (D18), so two equal
 * readings that arrive together must not share one, or the second would be taken for a copy.
 */
export class ReceiptClock {
  readonly #clock: Clock
  #lastUs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Reserves `count` consecutive microseconds and returns the first.
   *
   * @param spare so many more are left out behind them, as far as that is possible
   */
  reserve(count: number, spare = 0): number {
    const nowUs = this.#clock.nowUs()
    const taken = nowUs <= this.#lastUs && this.#lastUs - nowUs < bridgedUs
    const firstUs = taken ? this.#lastUs + 1 : nowUs
    this.#lastUs = firstUs + count - 1 + (firstUs - nowUs < aheadUsMax ? spare : 0)
    return firstUs
  }
}
