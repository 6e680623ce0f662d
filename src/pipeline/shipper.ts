import { LruMap } from '../core/lru-map.ts'
import type { JournalBatch, Offset } from '../journal/journal.ts'
import type { Shape, StoredReading, TimeSeriesStore } from '../time-series/time-series-store.ts'
import type { Consumer } from './consumer.ts'
import { readEntries, streamIdOf } from './entry.ts'

/** Shapes of stream versions that are kept at hand. */
const shapesMax = 100_000

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
  readonly #ids = new LruMap<string, string>(shapesMax)
  readonly #shapes = new LruMap<string, Shape>(shapesMax)

  constructor({ store, loadShape }: ShipperNeeds) {
    this.#store = store
    this.#loadShape = loadShape
  }

  position(): Offset {
    return this.#store.position()
  }

  async handle(batches: readonly JournalBatch[]): Promise<void> {
    const readings: StoredReading[] = []
    const received = new Map<string, number>()
    const from = this.#store.position()
    let nextOffset = from
    for (const { firstOffset, count, bytes } of batches) {
      if (firstOffset !== nextOffset) {
        throw new Error(`the journal has no entry ${nextOffset}: it goes on at ${firstOffset}`)
      }
      nextOffset = firstOffset + count
      for (const entry of readEntries(bytes)) {
        const streamId = this.#idOf(entry.streamKey)
        received.set(streamId, (received.get(streamId) ?? 0) + 1)
        if (!entry.accepted) continue
        const shape =
          this.#shapes.get(entry.streamKey + entry.streamVersion) ??
          (await this.#load(entry.streamKey, entry.streamVersion))
        const { timestampUs, receivedAtUs, digest, values, extra, flagged } = entry
        readings.push({
          streamId,
          shape,
          timestampUs,
          receivedAtUs,
          digest,
          values,
          extra,
          flagged,
        })
      }
    }
    await this.#store.write({ readings, received, from, nextOffset })
  }

  #idOf(streamKey: string): string {
    let id = this.#ids.get(streamKey)
    if (id === undefined) {
      id = streamIdOf(streamKey)
      this.#ids.set(streamKey, id)
    }
    return id
  }

  async #load(streamKey: string, version: number): Promise<Shape> {
    const shape = await this.#loadShape(this.#idOf(streamKey), version)
    this.#shapes.set(streamKey + version, shape)
    return shape
  }
}
