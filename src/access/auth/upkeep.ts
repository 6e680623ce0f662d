import type { StateWriter } from '../../storage/state/database.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import type { ConsoleSessions } from './console-sessions.ts'
import type { FailedLogins } from './failed-logins.ts'
import type { KeyDirectory } from './key-directory.ts'
import type { SigningKeys } from './signing-keys.ts'

/** How often what was remembered is written down: last uses, and failed logins. */
const flushMs = 60_000

/** Every so many flushes it is time to look at what changes slowly. */
const flushesPerCheck = 60

export interface UpkeepNeeds {
  readonly directory: KeyDirectory
  readonly sessions: Pick<ConsoleSessions, 'flush'>
  readonly failedLogins: FailedLogins
  readonly signingKeys: SigningKeys
  readonly audit: AuditLog
  readonly writer: StateWriter
  readonly alsoFlush: () => Promise<void>
  readonly onFailure: (error: unknown) => void
}

/** What has to be done about keys now and then, off the way of requests. */
export class Upkeep {
  readonly #needs: UpkeepNeeds
  readonly #timer: NodeJS.Timeout
  #flushes = 0
  #running: Promise<void> = Promise.resolve()

  constructor(needs: UpkeepNeeds) {
    this.#needs = needs
    this.#timer = setInterval(() => void this.#run(), flushMs)
    this.#timer.unref()
    this.#running = this.#attempt([() => this.#checkSlowly()])
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
    await this.#attempt(this.#flushing)
  }

  async #run(): Promise<void> {
    await this.#running
    const isSlow = ++this.#flushes % flushesPerCheck === 0
    const tasks = isSlow ? [...this.#flushing, () => this.#checkSlowly()] : this.#flushing
    this.#running = this.#attempt(tasks)
    await this.#running
  }

  readonly #flushing: readonly (() => Promise<void>)[] = [
    () => this.#needs.directory.flush(),
    () => this.#needs.sessions.flush(),
    () => this.#needs.alsoFlush(),
    () => this.#needs.failedLogins.flush(this.#needs.audit, this.#needs.writer),
    () => this.#needs.audit.trimShares(this.#needs.writer),
  ]

  async #checkSlowly(): Promise<void> {
    await this.#needs.signingKeys.rotateWhenDue()
    await this.#needs.audit.trim(this.#needs.writer)
  }

  /** One failure does not keep the others from being done, nor does it end anything. */
  async #attempt(tasks: readonly (() => Promise<void>)[]): Promise<void> {
    for (const task of tasks) {
      try {
        await task()
      } catch (error) {
        this.#needs.onFailure(error)
      }
    }
  }
}
