import type { Logger } from 'pino'

/** Errors that are logged: a timer that fails at each turn would fill the log while the service stops. */
const loggedMax = 20

/**
 * Errors that nothing was waiting for, of this thread and of those that the service cannot do without.
 * Each is logged with its cause. No one knows what they have left half done: the first one is a reason to
 * stop, in order, and to be started again.
 */
export class UnexpectedErrors {
  readonly #logger: Logger
  readonly #first = Promise.withResolvers<never>()
  #count = 0

  constructor(logger: Logger) {
    this.#logger = logger
    // Callers who want to know await the promise; that nothing waits is no fault.
    this.#first.promise.catch(() => undefined)
    // Rejections that nothing handles come this way as well.
    process.on('uncaughtException', (error) => this.report(error))
  }

  /** Rejects with the first one. */
  get first(): Promise<never> {
    return this.#first.promise
  }

  readonly report = (error: unknown): void => {
    this.#count++
    if (this.#count <= loggedMax) {
      this.#logger.fatal({ err: error }, 'nothing was waiting for this error: the service stops')
    }
    this.#first.reject(error)
  }
}
