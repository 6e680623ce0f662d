import { judgeOf } from '../../processors/index.ts'
import { scanOf } from '../../processors/scan.ts'
import type { StreamId } from '../core/ids.ts'
import { LruMap } from '../core/lru-map.ts'
import type { CompiledStream, StreamVersion } from './reading.ts'

/** Streams whose newest version is kept ready; a cold one costs one read of the state. */
const streamsMax = 100_000

/** The streams that readings arrive for, ready to judge them. */
export class StreamDirectory {
  readonly #load: (id: StreamId) => Promise<StreamVersion | undefined>
  readonly #streams = new LruMap<StreamId, CompiledStream>(streamsMax)

  constructor(load: (id: StreamId) => Promise<StreamVersion | undefined>) {
    this.#load = load
  }

  get size(): number {
    return this.#streams.size
  }

  /** The stream if it is at hand: the hot path does not even wait for a microtask. */
  cached(id: StreamId): CompiledStream | undefined {
    return this.#streams.get(id)
  }

  async find(id: StreamId): Promise<CompiledStream | undefined> {
    const known = this.#streams.get(id)
    if (known) return known
    const loaded = await this.#load(id)
    if (!loaded) return undefined
    const compiled = {
      ...loaded,
      judge: judgeOf(loaded.schema),
      scan: scanOf(loaded.schema),
    }
    this.#streams.set(id, compiled)
    return compiled
  }
}
