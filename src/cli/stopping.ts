import type { Logger } from 'pino'
import type { Service } from '../app.ts'

/** Longest time that stopping may take. What was acknowledged is on disk in any case. */
const stopMsMax = 9_000

/** The end of the service, whatever the reason: it stops once, in order. */
export class Stopping {
  readonly #service: Pick<Service, 'close'>
  readonly #logger: Logger
  #closed: Promise<void> | undefined
  #isSignalled = false
  #exitCode = 0

  constructor(service: Pick<Service, 'close'>, logger: Logger) {
    this.#service = service
    this.#logger = logger
  }

  /** Ends the process by a signal to it: in order, and at once when it is said again. */
  readonly bySignal = (signal: NodeJS.Signals): void => {
    if (this.#isSignalled) process.exit(1)
    this.#isSignalled = true
    this.#logger.info({ signal }, 'stopping')
    void this.#close().then(() => process.exit(this.#exitCode))
  }

  /** Stops in order because the service cannot go on; ending the process is left to the caller. */
  async afterFailure(): Promise<void> {
    this.#exitCode = 1
    await this.#close()
  }

  /** Never rejects: a part that cannot be closed keeps nobody else from ending. */
  #close(): Promise<void> {
    this.#closed ??= this.#closeInTime()
    return this.#closed
  }

  async #closeInTime(): Promise<void> {
    setTimeout(() => {
      this.#logger.error('stopping takes too long: the rest is left as it is')
      process.exit(1)
    }, stopMsMax).unref()
    try {
      await this.#service.close()
    } catch (error) {
      this.#exitCode = 1
      this.#logger.error({ err: error }, 'stopping failed')
    }
  }
}
