import { aheadUsOf, type Clocks } from '../../core/clock.ts'

const usPerMinute = 60_000_000

/** What both clocks say at once. */
export interface Moment {
  readonly steadyUs: number
  /** How far the wall clock is ahead of steady time. */
  readonly aheadUs: number
}

/**
 * Numbers slots of time. They go by steady time, so that nothing is lost when the wall clock is set, and their
 * borders are those of minutes on the wall clock as it was at the start.
 */
export class SlotTimes {
  readonly #clock: Clocks
  readonly #aheadUs: number
  readonly #sinceUs: number

  constructor(clock: Clocks) {
    this.#clock = clock
    this.#aheadUs = aheadUsOf(clock)
    this.#sinceUs = clock.steadyUs()
  }

  /** When it began, by the wall clock of now. */
  get sinceUs(): number {
    return this.#sinceUs + aheadUsOf(this.#clock)
  }

  /** The steady time of something that was received; undefined for what came before the start. */
  steadyUsOf(receivedAtUs: number, { steadyUs, aheadUs }: Moment): number | undefined {
    const atUs = Math.min(receivedAtUs - aheadUs, steadyUs)
    return atUs < this.#sinceUs ? undefined : atUs
  }

  /** To be asked once for a round of many streams: to look at the clocks for each costs more than to count. */
  now(): Moment {
    return { steadyUs: this.#clock.steadyUs(), aheadUs: aheadUsOf(this.#clock) }
  }

  nowUs(): number {
    return this.#clock.steadyUs()
  }

  /** The slot of a steady time, of slots that are so many minutes long. */
  slotOf(steadyUs: number, minutes: number): number {
    return Math.floor((steadyUs + this.#aheadUs) / (minutes * usPerMinute))
  }

  /** The first slot that anything is known of. */
  firstSlot(minutes: number): number {
    return this.slotOf(this.#sinceUs, minutes)
  }

  /** When a slot begins, by the wall clock of now: on a minute, though the clock may have been set by half of one. */
  startUs(slot: number, minutes: number): number {
    const steadyUs = slot * minutes * usPerMinute - this.#aheadUs
    return Math.round((steadyUs + aheadUsOf(this.#clock)) / usPerMinute) * usPerMinute
  }
}
