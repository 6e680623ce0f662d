import { DomainError } from '../../core/errors.ts'
import { RemoteThread } from '../../core/threads/remote-thread.ts'
import type { Remote } from '../../core/threads/rpc.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import type { EntriesAt, EntriesAtRequest } from './entries-at.ts'
import type { NotedSliceRequest, Slice, SliceRequest } from './journal-slices.ts'
import type { News, StreamNews } from './stream-news.ts'
import type { TailProcedures, TailThreadData } from './tail-contract.ts'

export interface JournalTailsNeeds {
  readonly journalPath: string
  readonly news: StreamNews
  readonly onFailure: (error: unknown) => void
}

/**
 * The journal for those who follow streams, and for receipts, read by a thread of its own, which is asked when there is
 * something for them. The thread is started for the first of them; one that has failed is started again for the next.
 */
export class JournalTails {
  readonly #needs: JournalTailsNeeds
  #running: RemoteThread<TailProcedures> | undefined

  constructor(needs: JournalTailsNeeds) {
    this.#needs = needs
  }

  /** Offset after the newest entry whose sender may know that it is durable. */
  get end(): Offset {
    return this.#needs.news.end
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
    const { streamKey, from, until } = request
    const { news } = this.#needs
    const now = news.of(streamKey, from, until)
    if (!isNothing(now)) return await this.#read({ ...request, ...now })
    if (until !== undefined) return { events: [], next: until }
    await news.arrival(streamKey)
    const later = news.of(streamKey, from, undefined)
    // A tail that is not notified of anything has missed nothing, however long the journal has become.
    if (isNothing(later)) return { events: [], next: later.until }
    return await this.#read({ ...request, ...later })
  }

  /** The entries of one stream and time that the journal still holds, as far as it is searched. */
  async entriesAt(request: EntriesAtRequest): Promise<EntriesAt> {
    const { end } = this.#needs.news
    const calls = this.#calls
    let isMoreLeft = true
    while (isMoreLeft) isMoreLeft = await calls.noteEntries(end)
    return await calls.entriesAt(request)
  }

  async #read(request: NotedSliceRequest): Promise<Slice> {
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
      workerData: { journalPath: this.#needs.journalPath } satisfies TailThreadData,
    })
    const running = new RemoteThread<TailProcedures>(thread)
    const forget = () => {
      if (this.#running === running) this.#running = undefined
    }
    running.failed.catch((error: unknown) => {
      forget()
      this.#needs.onFailure(error)
    })
    thread.once('exit', forget)
    return running
  }
}

function isNothing({ batches }: News): boolean {
  return batches?.length === 0
}

function positionExpired(): DomainError {
  return new DomainError('position_expired', 'the journal does not hold this position any more')
}
