import { LruMap } from '../core/lru-map.ts'
import type { JournalBatch, Offset } from '../journal/journal.ts'
import type {
  Removal,
  Shape,
  Shipment,
  StoredReading,
  TimeSeriesStore,
} from '../time-series/time-series-store.ts'
import type { WindowDefinition, WindowVersion } from '../time-series/windows/window-store.ts'
import type { Consumer } from './consumer.ts'
import { streamIdOf, verdictCleared, verdictImported, verdictRedriven } from './entry.ts'
import { EntryReader } from './entry-reader.ts'

/** Entries of one shipment. */
const entriesMax = 10_000

/**
 * Each place that a shipment touches costs about as much as so many entries, so one that is spread
 * over many places has to be larger, within what may be held in memory.
 */
const entriesPerPlace = 400
const entriesMaxSpread = 50_000

/** Columns, over all months and shapes, that one shipment may touch: each takes memory. */
const columnsMax = 2_048

/** Columns that a store has beside the fields, about. */
const ownColumns = 6

const monthUs = 30 * 86_400_000_000

/** Streams whose shapes are kept at hand. */
const streamsMax = 100_000

/** A stream as far as shipping needs it. */
interface KnownStream {
  readonly id: string
  /** How readings of each version that came by are stored. */
  readonly versions: Map<number, KnownVersion>
}

interface KnownVersion extends StoredVersion {
  /** What the store has not been told yet. */
  toTell: WindowVersion | undefined
}

/** How readings of one version of a stream are stored. */
export interface StoredVersion {
  readonly shape: Shape
  /** Of a version that drops what is unchanged: the windows in which one is kept. Microseconds. */
  readonly keptEveryUs?: number | undefined
  /** Of a version whose stream has windows. */
  readonly windows?: WindowDefinition | undefined
}

interface Portion {
  readonly shipment: Shipment
  /** Whether the very next entry removes readings. */
  readonly isBeforeRemoval: boolean
  /** Versions that tell the store something in it. */
  readonly telling: ReadonlySet<KnownVersion>
}

export interface ShipperNeeds {
  readonly store: TimeSeriesStore
  readonly loadVersion: (streamId: string, version: number) => Promise<StoredVersion>
}

/**
 * Right of the journal, towards the store: accepted entries become rows. Repeating a stretch has no
 * second effect, because the store moves the position in the transaction of the rows.
 */
export class Shipper implements Consumer {
  readonly name = 'shipper'
  readonly #store: TimeSeriesStore
  readonly #loadVersion: ShipperNeeds['loadVersion']
  readonly #streams = new LruMap<string, KnownStream>(streamsMax)

  /** Less than the limit after a failure, until it has gone well again for a while. */
  #entriesMax = entriesMaxSpread
  /** Places that the last shipment has touched. */
  #places = 0

  constructor({ store, loadVersion }: ShipperNeeds) {
    this.#store = store
    this.#loadVersion = loadVersion
  }

  position(): Offset {
    return this.#store.position()
  }

  get entriesWanted(): number {
    return wantedFor(this.#places)
  }

  async handle(batches: readonly JournalBatch[]): Promise<void> {
    // A removal stands alone between two shipments, which is no reason to rest.
    let left = batches
    while (await this.#handleNext(left)) {
      left = left.filter(({ firstOffset, count }) => firstOffset + count > this.position())
      if (left.length === 0) return
    }
  }

  /** Returns whether it stopped before a removal, or has done one. */
  async #handleNext(batches: readonly JournalBatch[]): Promise<boolean> {
    const removal = this.#removalAt(this.position(), batches)
    if (removal) {
      await this.#store.remove(removal)
      return true
    }
    const { shipment, isBeforeRemoval, telling } = await this.#load(batches)
    try {
      await this.#store.write(shipment)
      for (const version of telling) version.toTell = undefined
      this.#entriesMax = Math.min(this.#entriesMax * 2, entriesMaxSpread)
    } catch (error) {
      // Whatever was too much for the store at once may not be in smaller portions.
      const failed = shipment.nextOffset - shipment.from
      this.#entriesMax = Math.max(1, Math.floor(failed / 2))
      throw error
    }
    return isBeforeRemoval
  }

  #removalAt(from: Offset, batches: readonly JournalBatch[]): Removal | undefined {
    const batch = batches.find(({ firstOffset, count }) => from < firstOffset + count)
    if (!batch || from < batch.firstOffset) return undefined
    const entry = new EntryReader(batch.bytes, from - batch.firstOffset)
    if (!entry.next() || entry.verdict !== verdictCleared) return undefined
    const streamId = this.#streamOf(entry.streamKey).id
    return { streamId, ...entry.clearedRange, from, nextOffset: from + 1 }
  }

  /**
   * What comes next, up to what the store takes in one go, or to a removal of what came before it. A
   * position may lie within a batch.
   */
  async #load(batches: readonly JournalBatch[]): Promise<Portion> {
    const from = this.#store.position()
    let isBeforeRemoval = false
    const readings: StoredReading[] = []
    const redriven = new Set<StoredReading>()
    const deduplicated = new Map<StoredReading, number>()
    const windows = new Map<StoredReading, WindowVersion>()
    const telling = new Set<KnownVersion>()
    const counted = new Map<KnownStream, number>()
    const places = new Places()
    let nextOffset = from
    portion: for (const { firstOffset, count, bytes } of batches) {
      if (firstOffset > nextOffset || firstOffset + count <= nextOffset) {
        throw new Error(`the journal has no entry ${nextOffset}: it goes on at ${firstOffset}`)
      }
      const entry = new EntryReader(bytes, nextOffset - firstOffset)
      while (entry.next()) {
        if (nextOffset - from >= Math.min(this.#entriesMax, wantedFor(places.count))) break portion
        if (entry.verdict === verdictCleared) {
          isBeforeRemoval = true
          break portion
        }
        const stream = this.#streamOf(entry.streamKey)
        if (entry.accepted) {
          const { streamVersion } = entry
          const version =
            stream.versions.get(streamVersion) ?? (await this.#versionOf(stream, streamVersion))
          const { shape, keptEveryUs, toTell } = version
          if (!places.take(shape, entry.timestampUs)) break portion
          const reading = storedReading(stream.id, shape, nextOffset, entry)
          readings.push(reading)
          if (keptEveryUs !== undefined) deduplicated.set(reading, keptEveryUs)
          if (toTell !== undefined && !telling.has(version)) {
            telling.add(version)
            windows.set(reading, toTell)
          }
          if (entry.verdict === verdictRedriven || entry.verdict === verdictImported) {
            redriven.add(reading)
          }
        }
        counted.set(stream, (counted.get(stream) ?? 0) + (entry.received ? 1 : 0))
        nextOffset++
      }
    }
    this.#places = places.count
    const received = new Map([...counted].map(([{ id }, count]) => [id, count]))
    const shipment = { readings, redriven, deduplicated, windows, received, from, nextOffset }
    return { shipment, isBeforeRemoval, telling }
  }

  #streamOf(streamKey: string): KnownStream {
    const known = this.#streams.get(streamKey)
    if (known) return known
    const made = { id: streamIdOf(streamKey), versions: new Map<number, KnownVersion>() }
    this.#streams.set(streamKey, made)
    return made
  }

  async #versionOf({ id, versions }: KnownStream, number: number): Promise<KnownVersion> {
    const stored = await this.#loadVersion(id, number)
    const { windows: definition } = stored
    // A later version may end the windows of those before it.
    const isAboutWindows = definition !== undefined || number > 1
    const version = {
      ...stored,
      toTell: isAboutWindows ? { version: number, definition } : undefined,
    }
    versions.set(number, version)
    return version
  }
}

function wantedFor(places: number): number {
  return Math.min(Math.max(entriesMax, places * entriesPerPlace), entriesMaxSpread)
}

/**
 * The places in a store that one shipment touches. Stores keep shapes, and months or the like, apart,
 * and each column of a place takes memory while it is written to; readings that are spread over
 * decades must not open hundreds of places at once.
 */
class Places {
  readonly #taken = new Set<string>()
  #columns = 0
  #shape: Shape | undefined
  #month = Number.NaN

  get count(): number {
    return this.#taken.size
  }

  /** Notes the place of a reading; false when that would be one too many. */
  take(shape: Shape, timestampUs: number): boolean {
    const month = Math.floor(timestampUs / monthUs)
    if (month === this.#month && shape === this.#shape) return true
    const place = `${shape.id} ${month}`
    if (!this.#taken.has(place)) {
      // One place is always possible, however wide it is.
      if (this.#taken.size > 0 && this.#columns + shape.columns.length > columnsMax) return false
      this.#columns += shape.columns.length + ownColumns
      this.#taken.add(place)
    }
    this.#shape = shape
    this.#month = month
    return true
  }
}

function storedReading(
  streamId: string,
  shape: Shape,
  offset: Offset,
  entry: EntryReader,
): StoredReading {
  const { timestampUs, receivedAtUs, digest, values } = entry
  const { extra, flagged = noFields } = entry.acceptedNotes
  return { streamId, shape, offset, timestampUs, receivedAtUs, digest, values, extra, flagged }
}

const noFields: readonly string[] = []
