import type { Offset } from '../../storage/journal/journal.ts'
import type { EntriesAt, EntriesAtRequest } from './entries-at.ts'
import type { NotedSliceRequest, Slice } from './journal-slices.ts'

/** What the thread is started with. */
export interface TailThreadData {
  readonly journalPath: string
}

/** What other threads may ask of this one. */
export interface TailProcedures {
  /** Whether the journal holds everything from an offset on. */
  covers(offset: Offset): boolean
  /** What there is of a stream; undefined when the journal does not hold it any more. */
  slice(request: NotedSliceRequest): Slice | undefined
  /** Notes some of the entries before an offset, for `entriesAt`. Returns whether there are more. */
  noteEntries(until: Offset): boolean
  /** The entries of one stream and time among those that are noted. */
  entriesAt(request: EntriesAtRequest): EntriesAt
}
