import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

/*
 * All that is asked for the time. There are three kinds of it, and they must not be mixed:
 *
 * - `nowUs`, the wall clock, names an instant: when something was received, made, or is to expire on a
 *   day that somebody was told. It can be set while we run, so two of its times say nothing about how
 *   long something took.
 * - `steadyUs`, steady time, measures waits that are stored: retries, leases, timers, sessions, keys that
 *   are remembered. It never jumps, and goes on over a restart, so "due at" in it is kept whatever is done
 *   to the wall clock. It looks like the wall clock (and is it, until that is set), but is shown to nobody.
 * - `monotonicMs` measures what begins and ends in one thread: rates, silence, patience. It means nothing
 *   to another thread or process.
 *
 * Timers of Node go by the last one.
 */

/** Names instants. Time is a dependency, so that timers and receipts can be tested without waiting. */
export interface Clock {
  /** Microseconds since the Unix epoch. */
  nowUs(): number
}

/** Measures waits, over restarts, too. */
export interface SteadyClock {
  /** Microseconds of steady time: it only ever grows, by the time that passes. */
  steadyUs(): number
}

/** What names an instant, and what measures how long it is until then. */
export interface Clocks extends Clock, SteadyClock {}

/** Clocks that say when one of them was set. */
export interface StepClocks extends Clocks {
  /** How often the wall clock was set, as far as `nowUs` has seen: what it was ahead by is another then. */
  readonly steps: number
}

/** Milliseconds of this thread, for what begins and ends in it. */
export function monotonicMs(): number {
  return performance.now()
}

/**
 * The steady time of an instant that has passed, to the order in which such instants came. It is not later
 * than now, although the wall clock may have been set back since.
 */
export function steadyUsOf(clock: Clocks, pastUs: number): number {
  return Math.min(pastUs - aheadUsOf(clock), clock.steadyUs())
}

/** The wall clock, where a library wants it as this. */
export function wallDate(): Date {
  return new Date()
}

/** When this process began, by the wall clock of then. */
export function processStart(): Date {
  return new Date(performance.timeOrigin)
}

/** How far the wall clock is ahead of steady time, in microseconds: it may be behind. */
export function aheadUsOf(clock: Clocks): number {
  return clock.nowUs() - clock.steadyUs()
}

/** What the wall clock shows when steady time comes to this, unless it is set until then. */
export function wallUsOf(clock: Clocks, steadyUs: number): number {
  return steadyUs + aheadUsOf(clock)
}

/** A difference from the wall clock beyond this is not rounding: the clock was set, or slept. */
const driftMsMax = 20

/** Looks at both clocks that are taken to find two that are close together. */
const looksMax = 10

/** A difference between the wall clock and steady time beyond this is no rounding, either; in microseconds. */
export const driftUsMax = driftMsMax * 1_000

/** CLOCK_MONOTONIC of the machine at the zero of this thread: what all threads and processes agree on. */
const machineMs = machineAtZeroMs()

/** Under this threads find out what steady time is. */
const steadyName = 'streamvault: microseconds from the monotonic clock to steady time'

/** Follows a wall clock that is set, or that slept, with microseconds in between. */
class SystemClock implements StepClocks {
  #originMs = performance.timeOrigin
  #steadyOriginUs = this.#originMs * 1_000
  #steps = 0

  constructor() {
    const known = getEnvironmentData(steadyName)
    if (typeof known === 'number') this.#steadyOriginUs = machineMs * 1_000 + known
  }

  get steps(): number {
    return this.#steps
  }

  nowUs(): number {
    const elapsedMs = performance.now()
    if (this.#isFar(Date.now() - elapsedMs)) this.#follow()
    return Math.floor((this.#originMs + elapsedMs) * 1000)
  }

  steadyUs(): number {
    return Math.floor(this.#steadyOriginUs + performance.now() * 1_000)
  }

  #isFar(originMs: number): boolean {
    return Math.abs(originMs - this.#originMs) > driftMsMax
  }

  /** Between two looks this thread may not have had its turn for a while: that is no step. */
  #follow(): void {
    for (let tries = 0; tries < looksMax; tries++) {
      const beforeMs = performance.now()
      const originMs = Date.now() - beforeMs
      if (performance.now() - beforeMs > 1) continue
      if (!this.#isFar(originMs)) return
      this.#originMs = originMs
      this.#steps++
      return
    }
  }

  goOnFrom({ steadyUs, machineUs: atUs }: SteadyMoment): void {
    const fromMachineUs = steadyUs - atUs
    this.#steadyOriginUs = machineMs * 1_000 + fromMachineUs
    setEnvironmentData(steadyName, fromMachineUs)
  }
}

const thisClock = new SystemClock()

/** The clocks of this process. Until it knows what was stored, steady time is the time of its start. */
export const systemClock: StepClocks = thisClock

/** One moment by both: steady time, and the machine's monotonic clock. */
export interface SteadyMoment {
  readonly steadyUs: number
  readonly machineUs: number
}

/** Says what steady time is, to this thread and to those that it starts from here on. */
export function goOnFrom(moment: SteadyMoment): void {
  thisClock.goOnFrom(moment)
}

/** Finds the machine's time at zero by the quickest of several looks at both clocks: a thread may lose its turn in between. */
function machineAtZeroMs(): number {
  let [atZeroMs, quickestMs] = [0, Number.POSITIVE_INFINITY]
  for (let looks = 0; looks < looksMax; looks++) {
    const beforeMs = performance.now()
    const machineNow = machineNowMs()
    const tookMs = performance.now() - beforeMs
    if (tookMs < quickestMs) [atZeroMs, quickestMs] = [machineNow - beforeMs, tookMs]
  }
  return atZeroMs
}

/** Microseconds of the machine's monotonic clock, which every process on it sees alike. */
export function machineUs(): number {
  return Math.floor(machineNowMs() * 1_000)
}

function machineNowMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000 + nanoseconds / 1_000_000
}

/** A clock that was set back by more than this is believed; a smaller step is only bridged. */
const bridgedUs = 1_000_000

/** Nothing is spared any more when the receipts are so far ahead: they must not seem to be set back. */
const aheadUsMax = bridgedUs / 2

/** The time of receipt of a message that has just come is not further ahead of the wall clock than this. */
export const receiptAheadUsMax = bridgedUs + 1

/**
 * Times of receipt: no two messages get the same microsecond.
 *
 * A reading without a time of its own is identified by its time of receipt
 * (decisions.md#times-of-readings), so two equal readings that arrive together must not share one,
 * or the second would be taken for a copy.
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
