import type { Offset } from '../journal/journal.ts'

/** A question for readings of a stream that a server did not take, in the order of their entries. */
export interface RefusedReadingsQuery {
  readonly streamId: string
  /** Only those of later entries. */
  readonly after: Offset
  readonly limit: number
  /** A page ends before its values have more bytes than this, but for one reading alone. */
  readonly bytesMax: number
}

/** A reading that was acknowledged, and that a server does not take. */
export interface RefusedReadingNote {
  /** Where its entry stands in the journal. */
  readonly entry: Offset
  readonly timestampUs: number
  /** Canonical JSON of its declared fields. */
  readonly values: string
  /** The message of the server. */
  readonly message: string
}

export interface RefusedReadingsPage {
  readonly readings: readonly RefusedReadingNote[]
  readonly hasMore: boolean
}

/**
 * What a store has whose server may refuse a reading; one whose server never does so leaves it out.
 */
export interface RefusingStore {
  refused?(query: RefusedReadingsQuery): RefusedReadingsPage
}
