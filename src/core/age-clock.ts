import { aheadUsOf, type Clock, type Clocks, driftUsMax } from './clock.ts'

/** A clock that was set forward is believed when it has been so for this long. */
export const doubtedUs = 86_400_000_000

/** How far the wall clock was ahead of steady time, since when, until the next lead was seen. */
interface Lead {
  readonly aheadUs: number
  readonly sinceUs: number
}

/**
 * The wall clock that ages go by: those of readings, and of whatever else is removed because it is old. What has been
 * removed cannot be brought back, so a wall clock that was set forward while the service runs is doubted for a day:
 * until then time goes on from where it was. Each step is doubted for a day of its own. A clock that is set back is
 * believed at once, which only keeps things for longer.
 */
export class AgeClock implements Clock {
  readonly #clock: Clocks
  /** Leads of the last day, each larger than the one before it: the first one is believed. */
  readonly #leads: Lead[] = []

  constructor(clock: Clocks) {
    this.#clock = clock
    this.nowUs()
  }

  nowUs(): number {
    const aheadUs = aheadUsOf(this.#clock)
    const steadyUs = this.#clock.steadyUs()
    // A lead has stood for as long as larger ones have. A difference that is no more than drift is none.
    let sinceUs = steadyUs
    for (let last = this.#leads.at(-1); last !== undefined; last = this.#leads.at(-1)) {
      if (aheadUs > last.aheadUs + driftUsMax) break
      sinceUs = last.sinceUs
      this.#leads.pop()
    }
    this.#leads.push({ aheadUs, sinceUs })
    while ((this.#leads[1]?.sinceUs ?? Number.POSITIVE_INFINITY) <= steadyUs - doubtedUs) {
      this.#leads.shift()
    }
    return steadyUs + (this.#leads[0] as Lead).aheadUs
  }
}
