import { DomainError, messageOf } from '../../core/errors.ts'
import { race } from '../../core/race.ts'
import { RemoteThread } from '../../core/threads/remote-thread.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import type { SessionsProcedures, SessionsThreadData } from './sessions-contract.ts'
import type { SessionChange, StoredSessions } from './sessions-file.ts'

/** Payloads that wait for the disk may take this much memory; beyond it nothing is taken. */
const waitingBytesMax = 32 * 1024 * 1024

/** What one change takes, beside its payload. */
const changeBytes = 200

interface Batch {
  readonly changes: SessionChange[]
  readonly done: PromiseWithResolvers<void>
  bytes: number
}

function newBatch(): Batch {
  const done = Promise.withResolvers<void>()
  // A change need not be waited for.
  done.promise.catch(() => undefined)
  return { changes: [], done, bytes: 0 }
}

/**
 * The changes of sessions on their way to the disk, in order. What comes while a batch is being
 * written goes with the next: one fsync for all of it, and no timer.
 */
export class SessionsLog {
  readonly #thread: RemoteThread<SessionsProcedures>
  #next = newBatch()
  #written: Batch | undefined
  #isScheduled = false
  /** Batches that the disk did not take. */
  failures = 0

  private constructor(thread: RemoteThread<SessionsProcedures>) {
    this.#thread = thread
  }

  /** Opens the file, and hands out what is in it. */
  static async open(
    path: string,
  ): Promise<{ readonly log: SessionsLog; readonly stored: StoredSessions }> {
    const workerData: SessionsThreadData = { path }
    const thread = startThread(import.meta.url, '../../processes/sessions/sessions-thread', {
      workerData,
    })
    const log = new SessionsLog(new RemoteThread(thread))
    const stored = await race([log.#thread.calls.load(), log.failed])
    return { log, stored }
  }

  /** Rejects when the thread ends by an error of its own. */
  get failed(): Promise<never> {
    return this.#thread.failed
  }

  get waitingBytes(): number {
    return this.#next.bytes + (this.#written?.bytes ?? 0)
  }

  get hasRoom(): boolean {
    return this.waitingBytes < waitingBytesMax
  }

  /** @throws DomainError `overloaded` when too much waits for the disk already */
  assertRoom(): void {
    if (this.hasRoom) return
    throw new DomainError('overloaded', 'too many MQTT messages wait for the disk', {
      retryAfter: 1,
    })
  }

  /**
   * Resolves when these changes, and all before them, are on disk.
   *
   * @throws DomainError `store_unavailable`: neither these nor those of the same turn are kept
   */
  async write(...changes: readonly SessionChange[]): Promise<void> {
    const batch = this.#next
    if (changes.length === 0 && batch.changes.length === 0) {
      await this.#written?.done.promise
      return
    }
    for (const change of changes) {
      batch.changes.push(change)
      batch.bytes += changeBytes
      for (const value of change) if (typeof value === 'object') batch.bytes += value.byteLength
    }
    this.#schedule()
    await batch.done.promise
  }

  /** Writes changes whose loss does no harm: what they take away is only met once more. */
  writeLater(...changes: readonly SessionChange[]): void {
    this.write(...changes).catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.write().catch(() => undefined)
    await this.#thread.calls.close()
    await this.#thread.terminate()
  }

  /**
   * Schedules a write for the end of the turn of the event loop, so that all its sockets
   * contribute.
   */
  #schedule(): void {
    if (this.#isScheduled || this.#written) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      void this.#writeNext()
    })
  }

  async #writeNext(): Promise<void> {
    const batch = this.#next
    this.#written = batch
    this.#next = newBatch()
    try {
      await this.#thread.calls.apply(batch.changes)
      batch.done.resolve()
    } catch (error) {
      this.failures++
      batch.done.reject(toDomainError(error))
    }
    this.#written = undefined
    if (this.#next.changes.length > 0) this.#schedule()
  }
}

function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  return new DomainError('store_unavailable', messageOf(error), { cause: error, retryAfter: 1 })
}
