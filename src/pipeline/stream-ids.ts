import { LruMap } from '../core/lru-map.ts'
import { streamIdOf } from './entry.ts'

/** Streams whose ids are kept at hand. */
const streamsMax = 100_000

/** Ids of streams by the keys of their entries: to write one down costs more than to find it again. */
export class StreamIds {
  readonly #ids = new LruMap<string, string>(streamsMax)

  of(streamKey: string): string {
    const known = this.#ids.get(streamKey)
    if (known !== undefined) return known
    const id = streamIdOf(streamKey)
    this.#ids.set(streamKey, id)
    return id
  }
}
