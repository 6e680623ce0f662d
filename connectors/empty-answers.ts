import { monotonicMs } from '../src/core/clock.ts'

/** Answers without news that may come at once: of a server that catches up with what it was late with. */
const spareMax = 20

/** Interval below which not even the fastest server has something to say. */
const intervalMsMin = 10

/**
 * Counts answers that bring nothing. A server says with one that it lives, or that there is nothing yet, and it is
 * asked again; one that does so at once, and for ever, would be asked for ever, as fast as both sides can.
 */
export class EmptyAnswers {
  readonly #intervalMs: number
  readonly #nowMs: () => number
  #spare = spareMax
  #atMs: number

  /**
   * @param intervalMs in which one of them may come: how long the server was told to wait
   * @param nowMs milliseconds that only grow
   */
  constructor(intervalMs: number, nowMs: () => number = monotonicMs) {
    this.#intervalMs = Math.max(intervalMsMin, intervalMs)
    this.#nowMs = nowMs
    this.#atMs = nowMs()
  }

  /** Begins anew, as something new has come. */
  reset(): void {
    this.#spare = spareMax
    this.#atMs = this.#nowMs()
  }

  /**
   * @param problem what is wrong with too many of them
   * @throws Error when there are too many
   */
  count(problem = 'the other side answers again and again, and has nothing new to say'): void {
    const nowMs = this.#nowMs()
    const regained = (nowMs - this.#atMs) / this.#intervalMs
    this.#spare = Math.min(spareMax, this.#spare + regained) - 1
    this.#atMs = nowMs
    if (this.#spare >= 0) return
    throw new Error(problem)
  }
}
