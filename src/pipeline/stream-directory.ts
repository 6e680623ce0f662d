import { decoderOf } from '../../processors/decode.ts'
import { judgeOf } from '../../processors/index.ts'
import { scanOf } from '../../processors/scan.ts'
import type { StreamId } from '../core/ids.ts'
import { LruMap } from '../core/lru-map.ts'
import type { CompiledStream, RefusedReading, StreamVersion } from './reading.ts'

/** Streams whose newest version is kept ready; a cold one costs one read of the state. */
const streamsMax = 100_000

/**
 * What their definitions come to as text. In memory each takes two to five times as much: measured were
 * 0.8 KiB for a stream of one field, and 27 KiB for one of 256.
 */
const definitionsLengthMax = 64 * 1024 * 1024

/** The streams that readings arrive for, ready to judge them. */
export class StreamDirectory {
  readonly #load: (id: StreamId) => Promise<StreamVersion | undefined>
  readonly #streams = new LruMap<StreamId, SizedStream>(streamsMax, {
    of: ({ definitionLength }) => definitionLength,
    max: definitionsLengthMax,
  })
  /** Grows with each `forget`: what was read before it may be outdated. */
  #forgotten = 0

  constructor(load: (id: StreamId) => Promise<StreamVersion | undefined>) {
    this.#load = load
  }

  get size(): number {
    return this.#streams.size
  }

  /** The stream if it is at hand: the hot path does not even wait for a microtask. */
  cached(id: StreamId): CompiledStream | undefined {
    return this.#streams.get(id)?.stream
  }

  async find(id: StreamId): Promise<CompiledStream | undefined> {
    for (;;) {
      const known = this.cached(id)
      if (known) return known
      const before = this.#forgotten
      const loaded = await this.#load(id)
      if (before !== this.#forgotten) continue
      if (!loaded) return undefined
      const stream = compile(loaded)
      this.#streams.set(id, { stream, definitionLength: lengthOf(loaded) })
      return stream
    }
  }

  /**
   * To be called once a stream was changed, and before anybody is told so: what arrives from then on
   * meets the stream as it is now.
   */
  forget(id: StreamId): void {
    this.#forgotten++
    this.#streams.delete(id)
  }
}

interface SizedStream {
  readonly stream: CompiledStream
  readonly definitionLength: number
}

function lengthOf({ schema, formatOptions, transform }: StreamVersion): number {
  return JSON.stringify([schema, formatOptions, transform]).length
}

function compile(stream: StreamVersion): CompiledStream {
  const { schema, format = 'json', transform = [], isPaused, isInternal } = stream
  const decode = decoderOf(format, stream)
  // What the service itself writes is held back where it comes from.
  if (isPaused && !isInternal) return { ...stream, decode, judge: refusePaused, scan: undefined }
  // A transform needs the fields as values, not as text.
  const scan = transform.length === 0 ? scanOf(schema) : undefined
  return { ...stream, decode, judge: judgeOf(schema, transform), scan }
}

function refusePaused(): RefusedReading {
  return {
    accepted: false,
    reason: 'stream_paused',
    message: 'the stream is paused',
    details: [],
    timestampUs: undefined,
  }
}
