import { setImmediate as turn } from 'node:timers/promises'
import type { StreamId, UserId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'

/** Streams that are looked at together. */
const streamsPerRound = 200

/** After a failure, or while a consumer lags behind, the next round begins this much later. */
const retryMs = 1_000

/** A deleted stream, and the offset from which on the journal has no more of it. */
interface DeletedStream {
  readonly streamId: StreamId
  readonly ownerId: UserId
  readonly offset: number
}

export interface DeletionScheduleNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  /** Nobody finds the stream any more from then on. */
  readonly forget: (id: StreamId) => void
  /** Resolves when all that was handed to the journal before is settled. */
  readonly drain: () => Promise<void>
  /** The offset after the last entry of the journal. */
  readonly head: () => Promise<number>
  /** Takes away what is kept for those who have subscribed to the stream. */
  readonly forgetMessages: (stream: Pick<DeletedStream, 'streamId' | 'ownerId'>) => Promise<void>
  /**
   * Removes the data of streams, the first ones of which a consumer has nothing ahead. Resolves with how many they are.
   */
  readonly remove: (streams: readonly DeletedStream[]) => Promise<number>
  /** Called with a stream of which nothing is left: whoever remembers something of it drops that. */
  readonly onRemoved: (id: StreamId) => void
}

/**
 * Removes the data of deleted streams in the background. A stream's row is gone by then, so nothing
 * new can come; what is on its way has to pass the journal first, or it would come back. Where its
 * last entry can be at most is written down, so that a restart goes on from there.
 */
export class DeletionSchedule {
  readonly #needs: DeletionScheduleNeeds
  #running: Promise<void> | undefined
  #isWanted = false
  #isStopped = false
  #timer: NodeJS.Timeout | undefined
  #pending = 0
  /** Streams of the round whose messages are gone, while their data waits for a consumer. */
  readonly #withoutMessages = new Set<StreamId>()

  constructor(needs: DeletionScheduleNeeds) {
    this.#needs = needs
  }

  /** Deleted streams of which there is data left, as far as was looked. */
  get pending(): number {
    return this.#pending
  }

  /** To be called at the start, and when a stream was deleted. */
  wake(): void {
    if (this.#isStopped) return
    this.#isWanted = true
    this.#running ??= this.#run()
      .catch(() => this.#retry())
      .finally(() => {
        this.#running = undefined
        if (this.#isWanted) this.wake()
      })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#isWanted = false
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    this.#isWanted = false
    await this.#findEnds()
    await this.#removeAll()
  }

  #retry(): void {
    if (this.#isStopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.wake(), retryMs).unref()
  }

  /** Writes down where the journal has no more of the streams that were deleted by now. */
  async #findEnds(): Promise<void> {
    const { state, writer, forget, drain, head } = this.#needs
    const rows = await state
      .selectFrom('data_stream_deletions')
      .select('stream_id')
      .where('journal_offset', 'is', null)
      .where('removed_at', 'is', null)
      .limit(streamsPerRound)
      .execute()
    if (rows.length === 0) return
    // One that is being deleted by somebody else is gone here, and that somebody was not told so yet.
    for (const row of rows) forget(row.stream_id as StreamId)
    // Callers who have found a stream before it was deleted hand its reading over in the same turn.
    await turn()
    await drain()
    const ids = rows.map((row) => row.stream_id)
    await writer.commit(
      state
        .updateTable('data_stream_deletions')
        .set({ journal_offset: await head() })
        .where('stream_id', 'in', ids),
    )
    if (rows.length === streamsPerRound) this.#isWanted = true
  }

  async #removeAll(): Promise<void> {
    const rows = await this.#needs.state
      .selectFrom('data_stream_deletions')
      .select(['stream_id', 'owner_id', 'journal_offset'])
      .where('removed_at', 'is', null)
      .where('journal_offset', 'is not', null)
      .orderBy('deleted_at')
      .limit(streamsPerRound)
      .execute()
    this.#pending = rows.length
    if (rows.length === 0) return
    const streams = rows
      .map((row) => {
        const streamId = row.stream_id as StreamId
        return { streamId, ownerId: row.owner_id as UserId, offset: row.journal_offset ?? 0 }
      })
      .toSorted((left, right) => left.offset - right.offset)
    for (const stream of streams) {
      if (this.#isStopped) return
      if (this.#withoutMessages.has(stream.streamId)) continue
      await this.#needs.forgetMessages(stream)
      this.#withoutMessages.add(stream.streamId)
    }
    if (this.#isStopped) return
    const removed = await this.#needs.remove(streams)
    for (const { streamId } of streams.slice(0, removed)) {
      this.#withoutMessages.delete(streamId)
      this.#needs.onRemoved(streamId)
    }
    this.#pending -= removed
    if (removed < rows.length) this.#retry()
    else if (rows.length === streamsPerRound) this.#isWanted = true
  }
}
