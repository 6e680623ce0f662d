import type { Offset } from '../../storage/journal/journal.ts'
import type { Slice, SliceRequest } from './journal-slices.ts'

/** What the thread is started with. */
export interface TailThreadData {
  readonly journalPath: string
}

/** What other threads may ask of this one. */
export interface TailProcedures {
  /** Offset after the newest durable entry. */
  end(): Offset
  covers(offset: Offset): boolean
  /**
   * What there is of a stream, waiting a little for something when there is nothing; undefined when
   * the journal does not hold it any more.
   */
  slice(request: SliceRequest): Promise<Slice | undefined>
}
