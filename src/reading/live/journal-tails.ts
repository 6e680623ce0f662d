import { DomainError } from '../../core/errors.ts'
import { RemoteThread } from '../../core/threads/remote-thread.ts'
import type { Remote } from '../../core/threads/rpc.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import type { Slice, SliceRequest } from './journal-slices.ts'
import type { TailProcedures, TailThreadData } from './tail-contract.ts'

/**
 * The journal for those who follow streams, read by a thread of its own. The thread is started for the
 * first of them; one that has failed is started anew for the next.
 */
export class JournalTails {
  readonly #data: TailThreadData
  readonly #onFailure: (error: unknown) => void
  #running: RemoteThread<TailProcedures> | undefined

  constructor(data: TailThreadData, onFailure: (error: unknown) => void) {
    this.#data = data
    this.#onFailure = onFailure
  }

  /** Offset after the newest durable entry. */
  async end(): Promise<Offset> {
    return await this.#calls.end()
  }

  /** @throws DomainError `position_expired` unless the journal holds everything from the offset on */
  async assertCovers(offset: Offset): Promise<void> {
    if (!(await this.#calls.covers(offset))) throw positionExpired()
  }

  /**
   * What there is of a stream from an offset on; without an end it waits a little when there is
   * nothing.
   *
   * @throws DomainError `position_expired`
   */
  async slice(request: SliceRequest): Promise<Slice> {
    const slice = await this.#calls.slice(request)
    if (slice === undefined) throw positionExpired()
    return slice
  }

  async close(): Promise<void> {
    await this.#running?.terminate()
  }

  get #calls(): Remote<TailProcedures> {
    this.#running ??= this.#start()
    return this.#running.calls
  }

  #start(): RemoteThread<TailProcedures> {
    const thread = startThread(import.meta.url, '../../processes/tail/tail-thread', {
      workerData: this.#data,
    })
    const running = new RemoteThread<TailProcedures>(thread)
    running.failed.catch(this.#onFailure)
    thread.once('exit', () => {
      if (this.#running === running) this.#running = undefined
    })
    return running
  }
}

function positionExpired(): DomainError {
  return new DomainError('position_expired', 'the journal does not hold this position any more')
}
