import type { Clock } from '../core/clock.ts'

/** A mail server that is away is told of once in so long, and not at every attempt. */
const quietUs = 60_000_000

/** What is wrong with the mail server, for the log. */
export class SmtpTroubles {
  readonly #clock: Clock
  readonly #log: (error: unknown) => void
  #quietUntilUs = 0

  constructor(clock: Clock, log: (error: unknown) => void) {
    this.#clock = clock
    this.#log = log
  }

  tell(error: unknown): void {
    const nowUs = this.#clock.nowUs()
    if (nowUs < this.#quietUntilUs) return
    this.#quietUntilUs = nowUs + quietUs
    this.#log(error)
  }
}
