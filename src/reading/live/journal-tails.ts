import type { MessagePort, Worker } from 'node:worker_threads'
import { DomainError } from '../../core/errors.ts'
import { Caller } from '../../core/threads/rpc.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import type { TailProcedures, TailThreadData } from '../../processes/tail/tail-thread.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import type { Slice, SliceRequest } from './journal-window.ts'

interface Running {
  readonly thread: Worker
  readonly caller: Caller<TailProcedures>
}

/**
 * The journal for those who follow streams, read by a thread of its own. The thread is started for the
 * first of them; one that has failed is started anew for the next.
 */
export class JournalTails {
  readonly #data: TailThreadData
  readonly #onFailure: (error: unknown) => void
  #running: Running | undefined

  constructor(data: TailThreadData, onFailure: (error: unknown) => void) {
    this.#data = data
    this.#onFailure = onFailure
  }

  /** Offset after the newest durable entry. */
  async end(): Promise<Offset> {
    return await this.#caller.call('end', undefined)
  }

  /** @throws DomainError `position_expired` unless the journal holds everything from the offset on */
  async assertCovers(offset: Offset): Promise<void> {
    if (!(await this.#caller.call('covers', offset))) throw positionExpired()
  }

  /**
   * What there is of a stream from an offset on; without an end it waits a little when there is
   * nothing.
   *
   * @throws DomainError `position_expired`
   */
  async slice(request: SliceRequest): Promise<Slice> {
    const slice = await this.#caller.call('slice', request)
    if (slice === undefined) throw positionExpired()
    return slice
  }

  async close(): Promise<void> {
    await this.#running?.thread.terminate()
  }

  get #caller(): Caller<TailProcedures> {
    this.#running ??= this.#start()
    return this.#running.caller
  }

  #start(): Running {
    const thread = startThread(import.meta.url, '../../processes/tail/tail-thread', {
      workerData: this.#data,
    })
    const running = { thread, caller: new Caller<TailProcedures>(thread as unknown as MessagePort) }
    thread.once('error', this.#onFailure)
    thread.once('exit', () => {
      running.caller.close()
      if (this.#running === running) this.#running = undefined
    })
    return running
  }
}

function positionExpired(): DomainError {
  return new DomainError('position_expired', 'the journal does not hold this position any more')
}
