import type { JournalBatch, Offset } from '../../storage/journal/journal.ts'
import type { Shape, ShippedReading } from '../../storage/time-series/time-series-store.ts'
import type {
  WindowDefinition,
  WindowVersion,
} from '../../storage/time-series/windows/window-store.ts'
import { kindImported, kindRedriven } from './entry.ts'

/** Columns, over all months and shapes, that one shipment may touch: each takes memory. */
const columnsMax = 2_048

/** Columns that a store has beside the fields, about. */
const ownColumns = 6

const monthUs = 30 * 86_400_000_000

export interface KnownVersion extends ShippedVersion {
  readonly number: number
  /** What the store has not been sent yet. */
  unsentWindows: WindowVersion | undefined
}

/** How readings of one version of a stream go into the store. */
export interface ShippedVersion {
  readonly shape: Shape
  /** Of a version that drops what is unchanged: the windows in which one is kept. Microseconds. */
  readonly keptEveryUs?: number | undefined
  /** Of a version whose stream has windows. */
  readonly windows?: WindowDefinition | undefined
}

/** Readings of a portion, and what is special about some of them. */
export class Gathered {
  readonly readings: ShippedReading[] = []
  readonly redriven = new Set<ShippedReading>()
  readonly deduplicated = new Map<ShippedReading, number>()
  readonly windows = new Map<ShippedReading, WindowVersion>()
  readonly sending = new Set<KnownVersion>()

  add(reading: ShippedReading, version: KnownVersion, kind: number): void {
    const { keptEveryUs, unsentWindows } = version
    this.readings.push(reading)
    if (keptEveryUs !== undefined) this.deduplicated.set(reading, keptEveryUs)
    if (unsentWindows !== undefined && !this.sending.has(version)) {
      this.sending.add(version)
      this.windows.set(reading, unsentWindows)
    }
    if (kind === kindRedriven || kind === kindImported) this.redriven.add(reading)
  }
}

/** A stream as far as what is received of it is counted. */
export interface CountedStream {
  readonly id: string
  /** Entries received in the portion that it was counted in last. */
  received: number
  /** The number of that portion. */
  portion: number
}

/**
 * What a portion has received of each stream. It is noted at the stream, which is at hand with each of its entries:
 * a map of thousands would be looked into with each of them.
 */
export class ReceivedCounts {
  readonly #portion: number
  readonly #streams: CountedStream[] = []

  /** @param portion a number that no portion before it had */
  constructor(portion: number) {
    this.#portion = portion
  }

  get streams(): number {
    return this.#streams.length
  }

  add(stream: CountedStream, entries: number): void {
    if (stream.portion !== this.#portion) {
      stream.portion = this.#portion
      stream.received = 0
      this.#streams.push(stream)
    }
    stream.received += entries
  }

  /** By id. A stream that was forgotten in the midst of the portion, for others, has two objects in it. */
  byId(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { id, received } of this.#streams) counts.set(id, (counts.get(id) ?? 0) + received)
    return counts
  }
}

/** Entries of a batch are of different sizes, but those of many batches are not. */
export function bytesBetween(batches: readonly JournalBatch[], from: Offset, to: Offset): number {
  let sum = 0
  for (const { firstOffset, count, bytes } of batches) {
    const entries = Math.min(to, firstOffset + count) - Math.max(from, firstOffset)
    if (entries > 0) sum += Math.ceil((bytes.byteLength * entries) / count)
  }
  return sum
}

/**
 * The places in a store that one shipment touches. Stores keep shapes, and months or the like, apart,
 * and each column of a place takes memory while it is written to; readings that are spread over
 * decades must not open hundreds of places at once.
 */
export class Places {
  readonly #taken = new Set<string>()
  /** Of each shape the month that was taken last: neighbours in time mostly share it. */
  readonly #months = new Map<Shape, number>()
  #columns = 0
  #areFull = false

  get count(): number {
    return this.#taken.size
  }

  /** Whether there was one too many. */
  get areFull(): boolean {
    return this.#areFull
  }

  /** Notes the place of a reading; false when that would be one too many. */
  take(shape: Shape, timestampUs: number): boolean {
    const month = Math.floor(timestampUs / monthUs)
    if (this.#months.get(shape) === month) return true
    const place = `${shape.id} ${month}`
    if (!this.#taken.has(place)) {
      // One place is always possible, however wide it is.
      this.#areFull = this.#taken.size > 0 && this.#columns + shape.columns.length > columnsMax
      if (this.#areFull) return false
      this.#columns += shape.columns.length + ownColumns
      this.#taken.add(place)
    }
    this.#months.set(shape, month)
    return true
  }
}
