import type { Offset } from '../journal/journal.ts'
import type { Shape } from './shape.ts'
import type { WindowVersion } from './windows/window-store.ts'

/** One reading on its way into the store. */
export interface ShippedReading {
  readonly streamId: string
  readonly shape: Shape
  /** Where its entry stands in the journal. */
  readonly offset: Offset
  readonly timestampUs: number
  readonly receivedAtUs: number
  readonly digest: bigint
  /** Canonical JSON of the declared fields. */
  readonly values: string
  readonly extra: string | undefined
  readonly flagged: readonly string[]
  /** Who sent it, of a stream that has several senders; with a colon before it, what it was known by in a file. */
  readonly sender?: string | undefined
}

/** What one stretch of the journal brings to the store. */
export interface Shipment {
  /** Each an object of its own. */
  readonly readings: readonly ShippedReading[]
  /**
   * Readings of these that have waited in the quarantine or come out of a file: how long they took
   * says nothing about the service.
   */
  readonly redriven?: ReadonlySet<ShippedReading>
  /**
   * Readings of streams that drop what is unchanged (decisions.md#readings-that-are-unchanged),
   * each with the length of the windows, in microseconds of event time, in each of which one is
   * kept all the same.
   */
  readonly deduplicated?: ReadonlyMap<ShippedReading, number>
  /**
   * What versions of streams say about windows, by the first reading of each. It is kept, and need not be
   * told again with later readings of the version.
   */
  readonly windows?: ReadonlyMap<ShippedReading, WindowVersion>
  /** Readings received in the stretch by stream, quarantined ones included; 0 for redriven ones only. */
  readonly received: ReadonlyMap<string, number>
  /** Bytes of the stretch in the journal, about. */
  readonly bytes?: number
  /** The stretch: the first offset after it becomes the shipper's position. */
  readonly from: Offset
  readonly nextOffset: Offset
}

/** What a person has removed: the readings of a stream in [startUs, endUs) that came before. */
export interface Removal {
  readonly streamId: string
  readonly startUs: number
  readonly endUs: number
  /** The place in the journal: the first offset after it becomes the shipper's position. */
  readonly from: Offset
  readonly nextOffset: Offset
}
