import { LruMap } from '../core/lru-map.ts'
import type { JournalBatch, Offset } from '../journal/journal.ts'
import type { Shape, StoredReading, TimeSeriesStore } from '../time-series/time-series-store.ts'
import type { Consumer } from './consumer.ts'
import { type AcceptedEntry, readEntries, streamIdOf } from './entry.ts'

/** Streams whose shapes are kept at hand. */
const streamsMax = 100_000

/** A stream as far as shipping needs it. */
interface KnownStream {
  readonly id: string
  /** Storage shape of each version that came by. */
  readonly shapes: Map<number, Shape>
}

export interface ShipperNeeds {
  readonly store: TimeSeriesStore
  /** The storage shape of one version of a stream. */
  readonly loadShape: (streamId: string, version: number) => Promise<Shape>
}

/**
 * Right of the journal, towards the store: accepted entries become rows. Repeating a stretch has no
 * second effect, because the store moves the position in the transaction of the rows.
 */
export class Shipper implements Consumer {
  readonly name = 'shipper'
  readonly #store: TimeSeriesStore
  readonly #loadShape: ShipperNeeds['loadShape']
  readonly #streams = new LruMap<string, KnownStream>(streamsMax)

  constructor({ store, loadShape }: ShipperNeeds) {
    this.#store = store
    this.#loadShape = loadShape
  }

  position(): Offset {
    return this.#store.position()
  }

  async handle(batches: readonly JournalBatch[]): Promise<void> {
    const readings: StoredReading[] = []
    const counted = new Map<KnownStream, number>()
    const from = this.#store.position()
    let nextOffset = from
    for (const { firstOffset, count, bytes } of batches) {
      if (firstOffset !== nextOffset) {
        throw new Error(`the journal has no entry ${nextOffset}: it goes on at ${firstOffset}`)
      }
      nextOffset = firstOffset + count
      for (const entry of readEntries(bytes)) {
        const stream = this.#streamOf(entry.streamKey)
        counted.set(stream, (counted.get(stream) ?? 0) + 1)
        if (!entry.accepted) continue
        const { streamVersion } = entry
        const shape = stream.shapes.get(streamVersion) ?? (await this.#load(stream, streamVersion))
        readings.push(storedReading(stream.id, shape, entry))
      }
    }
    const received = new Map([...counted].map(([{ id }, count]) => [id, count]))
    await this.#store.write({ readings, received, from, nextOffset })
  }

  #streamOf(streamKey: string): KnownStream {
    const known = this.#streams.get(streamKey)
    if (known) return known
    const made = { id: streamIdOf(streamKey), shapes: new Map<number, Shape>() }
    this.#streams.set(streamKey, made)
    return made
  }

  async #load({ id, shapes }: KnownStream, version: number): Promise<Shape> {
    const shape = await this.#loadShape(id, version)
    shapes.set(version, shape)
    return shape
  }
}

function storedReading(streamId: string, shape: Shape, entry: AcceptedEntry): StoredReading {
  const { timestampUs, receivedAtUs, digest, values, extra, flagged } = entry
  return { streamId, shape, timestampUs, receivedAtUs, digest, values, extra, flagged }
}
