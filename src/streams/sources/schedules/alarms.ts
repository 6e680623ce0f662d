import { systemClock } from '../../../core/clock.ts'

/** The clock is looked at so often while anybody waits: it may have been set, or the machine have slept. */
const checkMs = 30_000

/** A clock that goes back by more than this has been set. */
const setBackUs = 1_000_000

/** The clocks, and what calls once after so many milliseconds, until what it returns is called. */
export interface Time {
  readonly nowUs: () => number
  readonly steadyUs: () => number
  readonly callAfter: (ms: number, callback: () => void) => () => void
}

interface Alarm {
  readonly atUs: number
  readonly ring: () => void
  isSet: boolean
}

/** Wakes whoever waits for a time of day: all of them together cost one timer. */
export class Alarms {
  readonly #time: Time
  /** The next one is the last. There are no more than sources. */
  #waiting: Alarm[] = []
  #seenUs = 0
  #cancelTimer: (() => void) | undefined
  /** When the timer looks at the clock. */
  #timerAtUs = Number.POSITIVE_INFINITY

  constructor(time: Time) {
    this.#time = time
  }

  /** Steady time: how long something was ago, whatever the clock says. */
  get steadyUs(): number {
    return this.#time.steadyUs()
  }

  /**
   * Calls once: not before the time, but for a clock that was set back. Then everybody is called, to look at
   * the clock and decide anew.
   *
   * @returns what makes it not call any more
   */
  at(timeUs: number, ring: () => void): () => void {
    const alarm = { atUs: timeUs, ring, isSet: true }
    if (this.#waiting.length === 0) this.#seenUs = this.#time.nowUs()
    this.#waiting.splice(this.#placeOf(timeUs), 0, alarm)
    if (timeUs < this.#timerAtUs) this.#arm()
    return () => this.#cancel(alarm)
  }

  #cancel(alarm: Alarm): void {
    if (!alarm.isSet) return
    alarm.isSet = false
    this.#waiting.splice(this.#waiting.indexOf(alarm), 1)
    if (this.#waiting.length === 0) this.#disarm()
  }

  /**
   * Place behind those that ring later, and before those that ring at the same time: they were
   * first.
   */
  #placeOf(timeUs: number): number {
    let low = 0
    let high = this.#waiting.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#waiting[middle] as Alarm).atUs > timeUs) low = middle + 1
      else high = middle
    }
    return low
  }

  #arm(): void {
    this.#disarm()
    const next = this.#waiting.at(-1)
    if (next === undefined) return
    const nowUs = this.#time.nowUs()
    // Timers are rounded to milliseconds, and may be early by one.
    const untilMs = Math.max(1, Math.ceil((next.atUs - nowUs) / 1_000))
    const ms = Math.min(untilMs, checkMs)
    this.#timerAtUs = nowUs + ms * 1_000
    this.#cancelTimer = this.#time.callAfter(ms, () => this.#check())
  }

  #disarm(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#timerAtUs = Number.POSITIVE_INFINITY
  }

  #check(): void {
    const nowUs = this.#time.nowUs()
    const isSetBack = nowUs < this.#seenUs - setBackUs
    this.#seenUs = nowUs
    const due = isSetBack ? this.#waiting.splice(0) : this.#waiting.splice(this.#placeOf(nowUs))
    for (const alarm of due) alarm.isSet = false
    this.#arm()
    for (const { ring } of due.toReversed()) ring()
  }
}

/** Alarms of this process. */
export const systemAlarms = new Alarms({
  nowUs: () => systemClock.nowUs(),
  steadyUs: () => systemClock.steadyUs(),
  callAfter(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
})
