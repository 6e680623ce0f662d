import type { Logger } from 'pino'
import type { Service } from '../processes/network/app.ts'

/** Longest time that stopping may take. What was acknowledged is on disk in any case. */
const stopMsMax = 9_000

/** The end of the service, for any reason: it stops once, in order. What is still starting does so first. */
export class Stopping {
  readonly #starting: Promise<Pick<Service, 'close' | 'taken'>>
  readonly #logger: Logger
  #closed: Promise<void> | undefined
  #exitCode = 0

  constructor(starting: Promise<Pick<Service, 'close' | 'taken'>>, logger: Logger) {
    this.#starting = starting
    this.#logger = logger
  }

  /** Whether it is over already, or about to be. */
  get isUnderWay(): boolean {
    return this.#closed !== undefined
  }

  /** Ends the process because a signal asks for it: in order. */
  readonly bySignal = (signal: string): void => {
    this.#logger.info({ signal }, 'stopping')
    void this.#close().then(() => process.exit(this.#exitCode))
  }

  /** Ends the process because the user does not want to wait for that. */
  readonly atOnce = (signal: string): never => {
    this.#logger.warn({ signal }, 'stopping at once')
    process.exit(1)
  }

  /** Stops in order because the service cannot go on; ending the process is left to the caller. */
  async afterFailure(): Promise<void> {
    this.#exitCode = 1
    await this.#close()
  }

  /** Never rejects: a part that cannot be closed keeps no other from ending. */
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
      // A start that has failed leaves nothing to close: others report it.
      const service = await this.#starting.catch(() => undefined)
      // A journal that has failed says nothing more.
      const taken = await service?.taken().catch(() => undefined)
      await service?.close()
      this.#logger.info(
        taken === undefined ? {} : { taken },
        'stopped: all that was acknowledged is on the disk',
      )
    } catch (error) {
      this.#exitCode = 1
      this.#logger.error({ err: error }, 'stopping failed')
    }
  }
}
