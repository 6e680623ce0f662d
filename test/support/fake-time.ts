import type { Time } from '../../src/streams/sources/schedules/alarms.ts'

interface Timer {
  readonly atMs: number
  readonly callback: () => void
}

/** A clock that stands still, and timers that go off when it is moved. They count time that passes, not the clock. */
export class FakeTime implements Time {
  /** The clock that people set, in milliseconds. */
  #wallMs: number
  readonly #beganMs: number
  #passedMs = 0
  readonly #timers = new Set<Timer>()
  /** Timers that have ever been set. */
  timersSet = 0

  /** @param text ISO 8601 */
  constructor(text: string) {
    this.#wallMs = Date.parse(text)
    this.#beganMs = this.#wallMs
  }

  get timers(): number {
    return this.#timers.size
  }

  readonly nowUs = () => this.#wallMs * 1_000

  readonly steadyUs = () => (this.#beganMs + this.#passedMs) * 1_000

  readonly callAfter = (ms: number, callback: () => void) => {
    const timer = { atMs: this.#passedMs + ms, callback }
    this.#timers.add(timer)
    this.timersSet++
    return () => void this.#timers.delete(timer)
  }

  /** Lets so many milliseconds pass, with all that happens in them. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#passedMs + ms
    await promisesDone()
    for (;;) {
      const [next] = [...this.#timers].toSorted((one, other) => one.atMs - other.atMs)
      if (next === undefined || next.atMs > endMs) break
      this.#move(next.atMs)
      this.#timers.delete(next)
      next.callback()
      await promisesDone()
    }
    this.#move(endMs)
  }

  /** Lets time pass until the clock shows this, in ISO 8601. */
  async passUntil(text: string): Promise<void> {
    await this.pass(Date.parse(text) - this.#wallMs)
  }

  /** Sets the clock: no time passes. */
  set(text: string): void {
    this.#wallMs = Date.parse(text)
  }

  /** Sets the clock forward by so many milliseconds. */
  step(ms: number): void {
    this.#wallMs += ms
  }

  #move(passedMs: number): void {
    this.#wallMs += passedMs - this.#passedMs
    this.#passedMs = passedMs
  }
}

/** Resolves once all that waits for nothing but promises has gone on. */
async function promisesDone(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => void setImmediate(resolve))
  }
}
