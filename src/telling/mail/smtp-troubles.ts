import { monotonicMs } from '../../core/clock.ts'

/** A mail server that is away is reported once in so long, and not at every attempt. */
const quietMs = 60_000

/** What is wrong with the mail server, for the log. */
export class SmtpTroubles {
  readonly #log: (error: unknown) => void
  #quietUntilMs = 0

  constructor(log: (error: unknown) => void) {
    this.#log = log
  }

  report(error: unknown): void {
    const nowMs = monotonicMs()
    if (nowMs < this.#quietUntilMs) return
    this.#quietUntilMs = nowMs + quietMs
    this.#log(error)
  }
}
