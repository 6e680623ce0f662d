import type { Offset } from '../../storage/journal/journal.ts'
import type { Shape } from '../../storage/time-series/shape.ts'
import type { ShippedReading } from '../../storage/time-series/shipment.ts'
import type { AcceptedNotes } from './entry.ts'
import type { EntryBytes } from './entry-bytes.ts'

/** Where the journal holds an accepted reading: `at` is the byte of a batch at which its entry begins. */
export interface AcceptedPlace {
  readonly offset: Offset
  readonly bytes: EntryBytes
  readonly at: number
  readonly notes: AcceptedNotes
}

/**
 * An accepted reading of which the journal's bytes are read when it is asked. A shipment holds tens of
 * thousands, and copies of all that they say would live just long enough for the garbage collector to
 * move them around.
 */
export class JournalledReading implements ShippedReading {
  readonly streamId: string
  readonly shape: Shape
  readonly offset: Offset
  readonly #bytes: EntryBytes
  readonly #at: number
  readonly #notes: AcceptedNotes

  constructor(streamId: string, shape: Shape, { offset, bytes, at, notes }: AcceptedPlace) {
    this.streamId = streamId
    this.shape = shape
    this.offset = offset
    this.#bytes = bytes
    this.#at = at
    this.#notes = notes
  }

  get timestampUs(): number {
    return this.#bytes.timestampUs(this.#at)
  }

  get receivedAtUs(): number {
    return this.#bytes.receivedAtUs(this.#at)
  }

  get digest(): bigint {
    return this.#bytes.digest(this.#at)
  }

  get values(): string {
    return this.#bytes.text(this.#at)
  }

  get extra(): string | undefined {
    return this.#notes.extra
  }

  get flagged(): readonly string[] {
    return this.#notes.flagged ?? noFields
  }

  get sender(): string | undefined {
    return this.#notes.sender
  }
}

const noFields: readonly string[] = []
