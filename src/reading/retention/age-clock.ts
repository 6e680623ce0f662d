import { aheadUsOf, type Clock, type Clocks, driftUsMax } from '../../core/clock.ts'

/** A clock that was set forward is believed when it has been so for this long. */
export const doubtedUs = 86_400_000_000

/**
 * The wall clock that the ages of readings go by. What has been removed cannot be brought back, so a wall clock that
 * was set forward while the service runs is doubted for a day: until then time goes on from where it was. One that is
 * set back is believed at once, which only keeps readings for longer.
 */
export class AgeClock implements Clock {
  readonly #clock: Clocks
  #aheadUs: number
  #doubtedSinceUs: number | undefined

  constructor(clock: Clocks) {
    this.#clock = clock
    this.#aheadUs = aheadUsOf(clock)
  }

  nowUs(): number {
    const aheadUs = aheadUsOf(this.#clock)
    const steadyUs = this.#clock.steadyUs()
    const isForward = aheadUs > this.#aheadUs + driftUsMax
    this.#doubtedSinceUs = isForward ? (this.#doubtedSinceUs ?? steadyUs) : undefined
    const isBelieved = steadyUs - (this.#doubtedSinceUs ?? steadyUs) >= doubtedUs
    if (!isForward || isBelieved) this.#aheadUs = aheadUs
    return steadyUs + this.#aheadUs
  }
}
