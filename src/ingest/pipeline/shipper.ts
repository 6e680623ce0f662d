import { LruMap } from '../../core/lru-map.ts'
import type { JournalBatch, Offset } from '../../storage/journal/journal.ts'
import type { Shape } from '../../storage/time-series/shape.ts'
import type { Removal, Shipment, ShippedReading } from '../../storage/time-series/shipment.ts'
import type { Repetition, StoreDurability } from '../../storage/time-series/store-durability.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'
import type {
  WindowDefinition,
  WindowVersion,
} from '../../storage/time-series/windows/window-store.ts'
import type { Activity } from '../activity/activity.ts'
import type { Consumer } from './consumer.ts'
import {
  kindCleared,
  kindImported,
  kindPosition,
  kindRedriven,
  streamIdOf,
  streamKeyOf,
} from './entry.ts'
import { EntryReader } from './entry-reader.ts'
import { JournalledReading } from './journalled-reading.ts'
import { Places } from './places.ts'
import { type CountedStream, ReceivedCounts } from './received-counts.ts'

/** Entries of one shipment. */
const entriesMax = 10_000

/**
 * Each place that a shipment touches costs about as much as so many entries, and each stream as so many,
 * so one that is spread over many has to be larger, within what may be held in memory.
 */
const entriesPerPlace = 400
const entriesPerStream = 5
const entriesMaxSpread = 100_000

/** Streams whose shapes are kept at hand, and shapes. */
const streamsMax = 100_000
const shapesMax = 10_000

interface KnownVersion extends ShippedVersion {
  readonly number: number
  /** Windows that the store has not been sent yet. */
  unsentWindows: WindowVersion | undefined
}

/** How readings of one version of a stream go into the store. */
export interface ShippedVersion {
  readonly shape: Shape
  /**
   * How long the windows are, in each of which one is kept, where what is unchanged is dropped.
   * Microseconds.
   */
  readonly keptEveryUs?: number | undefined
  /** The windows of the stream, where it has some. */
  readonly windows?: WindowDefinition | undefined
}

/** Readings of a portion, and what is special about some of them. */
class Gathered {
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

/** A stream as far as shipping needs it. */
interface KnownStream extends CountedStream {
  /** How readings of each version that came by are stored, once there are several: a map for each of thousands would be large. */
  versions: Map<number, KnownVersion> | undefined
  /** The version that came by last: nearly always the next one is the same. */
  last: KnownVersion | undefined
}

interface Portion {
  readonly shipment: Shipment
  /** When the last of its entries came in. */
  readonly receivedAtUs: number
  /** Whether the very next entry removes readings. */
  readonly isBeforeRemoval: boolean
  /** Versions whose windows are sent with it. */
  readonly sending: ReadonlySet<KnownVersion>
}

export interface ShipperNeeds {
  readonly store: TimeSeriesStore
  readonly loadVersion: (streamId: string, version: number) => Promise<ShippedVersion | undefined>
  readonly activity?: Pick<Activity, 'meet' | 'noteStored'>
}

/** A stretch of the journal that a portion is taken from. */
interface Stretch {
  readonly from: Offset
  /** Readings of streams that are gone by now are left out of what is sent again. */
  readonly isRepeated: boolean
  readonly until: Offset
}

/**
 * Right of the journal, towards the store: accepted entries become rows. Repeating a stretch has no
 * second effect, because the store moves the position in the transaction of the rows.
 */
export class Shipper implements Consumer {
  readonly name = 'shipper'
  readonly #needs: ShipperNeeds
  readonly #streams = new LruMap<string, KnownStream>(streamsMax)
  #portions = 0
  readonly #shapes = new LruMap<string, Shape>(shapesMax)

  /** Less than the limit after a failure, until it has gone well again for a while. */
  #entriesMax = entriesMaxSpread
  /** By what the last shipment has touched. */
  #entriesWanted = entriesMax
  #receivedAtUs = 0

  constructor(needs: ShipperNeeds) {
    this.#needs = needs
  }

  position(): Offset {
    return this.#needs.store.position()
  }

  /** Streams that are at hand. */
  get streamsAtHand(): number {
    return this.#streams.size
  }

  /** To be told of streams that are gone, once it has passed all their entries. */
  forgetStreams(streamIds: readonly string[]): void {
    for (const id of streamIds) this.#streams.delete(streamKeyOf(id))
  }

  get entriesWanted(): number {
    return this.#entriesWanted
  }

  /**
   * By when what came in is stored: by now, unless entries before `head` wait still. Readings of the past that are
   * entered once more do not turn it back.
   */
  storedUntilUs(head: Offset, nowUs: number): number {
    return this.position() >= head ? nowUs : Math.min(this.#receivedAtUs, nowUs)
  }

  readsFrom(): Offset {
    return this.#needs.store.durability?.repeatsFrom() ?? this.position()
  }

  get wantsTurn(): boolean {
    return this.#needs.store.durability?.repeatsFrom() !== undefined
  }

  /** A store that loses nothing never wakes it. */
  untilWoken(): Promise<void> | undefined {
    return this.#needs.store.durability?.repetitionWanted()
  }

  async handle(batches: readonly JournalBatch[]): Promise<void> {
    const { durability } = this.#needs.store
    if (durability && (await this.#repeat(durability, batches))) return
    // A removal stands alone between two shipments, which is no reason to rest.
    let left = batches
    while (await this.#handleNext(left)) {
      left = left.filter(({ firstOffset, count }) => firstOffset + count > this.position())
      if (left.length === 0) return
    }
  }

  /** Returns whether the batches were for a repetition, or have to wait for one. */
  async #repeat(durability: StoreDurability, batches: readonly JournalBatch[]): Promise<boolean> {
    let from = durability.repeatsFrom()
    let left = batches
    for (;;) {
      const repetition = await durability.nextRepetition()
      // What was read begins elsewhere: it was asked for before this was known.
      if (repetition?.from !== from) return true
      if (!repetition) return left.length === 0
      await this.#repeatFrom(durability, repetition, left)
      from = durability.repeatsFrom()
      left = batches.filter(({ firstOffset, count }) => firstOffset + count > (from ?? 0))
      if (left.length === 0) return true
    }
  }

  async #repeatFrom(
    durability: StoreDurability,
    repetition: Repetition,
    batches: readonly JournalBatch[],
  ): Promise<void> {
    const removal = this.#removalAt(repetition.from, batches)
    if (removal) {
      await durability.repeatRemoval(removal)
      return
    }
    const { shipment } = await this.#load(batches, { ...repetition, isRepeated: true })
    await durability.repeat(shipment)
  }

  /** Returns whether it stopped before a removal, or has done one. */
  async #handleNext(batches: readonly JournalBatch[]): Promise<boolean> {
    const { store, activity } = this.#needs
    const removal = this.#removalAt(this.position(), batches)
    if (removal) {
      await store.remove(removal)
      return true
    }
    const stretch = { from: this.position(), until: Number.POSITIVE_INFINITY, isRepeated: false }
    const { shipment, isBeforeRemoval, sending, receivedAtUs } = await this.#load(batches, stretch)
    await activity?.meet(shipment.received.keys())
    try {
      await store.write(shipment)
      this.#receivedAtUs = Math.max(this.#receivedAtUs, receivedAtUs)
      for (const version of sending) version.unsentWindows = undefined
      this.#entriesMax = Math.min(this.#entriesMax * 2, entriesMaxSpread)
    } catch (error) {
      // A shipment that was too much for the store at once may not be in smaller portions.
      const failed = shipment.nextOffset - shipment.from
      this.#entriesMax = Math.max(1, Math.floor(failed / 2))
      throw error
    }
    activity?.noteStored(shipment.received.keys())
    return isBeforeRemoval
  }

  #removalAt(from: Offset, batches: readonly JournalBatch[]): Removal | undefined {
    const batch = batches.find(({ firstOffset, count }) => from < firstOffset + count)
    if (!batch || from < batch.firstOffset) return undefined
    const entry = new EntryReader(batch.bytes, from - batch.firstOffset)
    if (!entry.next() || entry.kind !== kindCleared) return undefined
    const streamId = this.#streamOf(entry.streamKey).id
    return { streamId, ...entry.clearedRange, from, nextOffset: from + 1 }
  }

  /**
   * What comes next, up to what the store takes in one go, or to a removal of what came before it. A
   * position may lie within a batch.
   */
  async #load(
    batches: readonly JournalBatch[],
    { from, until, isRepeated }: Stretch,
  ): Promise<Portion> {
    let isBeforeRemoval = false
    const gathered = new Gathered()
    const counts = new ReceivedCounts(++this.#portions)
    const places = new Places()
    let nextOffset = from
    let receivedAtUs = 0
    portion: for (const { firstOffset, count, bytes } of batches) {
      if (nextOffset >= until) break
      if (firstOffset > nextOffset || firstOffset + count <= nextOffset) {
        throw new Error(`the journal has no entry ${nextOffset}: it goes on at ${firstOffset}`)
      }
      const entry = new EntryReader(bytes, nextOffset - firstOffset)
      while (nextOffset < until && entry.next()) {
        const wanted = Math.min(this.#entriesMax, wantedFor(places, counts.streams))
        if (nextOffset - from >= wanted) break portion
        if (entry.kind === kindCleared) {
          isBeforeRemoval = true
          break portion
        }
        const stream = this.#streamOf(entry.streamKey)
        if (entry.accepted) {
          const { streamVersion } = entry
          const version =
            versionAtHand(stream, streamVersion) ?? (await this.#versionOf(stream, streamVersion))
          if (version) {
            if (!places.take(version.shape, entry.timestampUs)) break portion
            const { bytes: entryBytes, start: at, acceptedNotes: notes } = entry
            const place = { offset: nextOffset, bytes: entryBytes, at, notes }
            const reading = new JournalledReading(stream.id, version.shape, place)
            gathered.add(reading, version, entry.kind)
          } else if (!isRepeated) {
            throw new Error(`the state knows no version ${streamVersion} of stream ${stream.id}`)
          }
        } else if (entry.isAboutAlerts || entry.kind === kindPosition) {
          nextOffset++
          continue
        }
        counts.add(stream, entry.received ? 1 : 0)
        receivedAtUs = entry.receivedAtUs
        nextOffset++
      }
    }
    const received = counts.byId()
    this.#entriesWanted = wantedFor(places, received.size)
    const { sending, ...rest } = gathered
    const bytes = bytesBetween(batches, from, nextOffset)
    return {
      shipment: { ...rest, received, bytes, from, nextOffset },
      isBeforeRemoval,
      sending,
      receivedAtUs,
    }
  }

  #streamOf(streamKey: string): KnownStream {
    const known = this.#streams.get(streamKey)
    if (known) return known
    const made: KnownStream = {
      id: streamIdOf(streamKey),
      versions: undefined,
      last: undefined,
      received: 0,
      portion: 0,
    }
    this.#streams.set(streamKey, made)
    return made
  }

  async #versionOf(stream: KnownStream, number: number): Promise<KnownVersion | undefined> {
    const { id } = stream
    const loaded = await this.#needs.loadVersion(id, number)
    if (!loaded) return undefined
    const { windows: definition } = loaded
    // A later version may end the windows of those before it.
    const isAboutWindows = definition !== undefined || number > 1
    // Fleets of thousands have a shape in common: one object for all makes it cheap to know again.
    const shape = this.#shapes.get(loaded.shape.id) ?? loaded.shape
    this.#shapes.set(shape.id, shape)
    const version = {
      ...loaded,
      number,
      shape,
      unsentWindows: isAboutWindows ? { version: number, definition } : undefined,
    }
    keep(stream, version)
    return version
  }
}

function versionAtHand(stream: KnownStream, number: number): KnownVersion | undefined {
  if (stream.last?.number === number) return stream.last
  const known = stream.versions?.get(number)
  if (known) stream.last = known
  return known
}

function keep(stream: KnownStream, version: KnownVersion): void {
  const { last } = stream
  stream.last = version
  if (last === undefined) return
  stream.versions ??= new Map([[last.number, last]])
  stream.versions.set(version.number, version)
}

function wantedFor(places: Places, streams: number): number {
  // More entries would be read, and not be taken.
  if (places.areFull) return entriesMax
  const worth = places.count * entriesPerPlace + streams * entriesPerStream
  return Math.min(Math.max(entriesMax, worth), entriesMaxSpread)
}

/** Entries of a batch are of different sizes, but those of many batches are not. */
function bytesBetween(batches: readonly JournalBatch[], from: Offset, to: Offset): number {
  let sum = 0
  for (const { firstOffset, count, bytes } of batches) {
    const entries = Math.min(to, firstOffset + count) - Math.max(from, firstOffset)
    if (entries > 0) sum += Math.ceil((bytes.byteLength * entries) / count)
  }
  return sum
}
