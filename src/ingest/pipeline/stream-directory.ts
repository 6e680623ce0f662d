import { decoderOf } from '../../../processors/decode.ts'
import { judgeOf } from '../../../processors/index.ts'
import { mapperOf, textMappingOf } from '../../../processors/mapping/mapper.ts'
import { scanOf } from '../../../processors/scan.ts'
import type { CompiledStream, RefusedReading, StreamVersion } from '../../contracts/reading.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import { LruMap } from '../../core/lru-map.ts'
import { contextReadBy } from '../../streams/data-streams/context-paths.ts'

/** Streams whose newest version is kept ready; a cold one costs one read of the state. */
const streamsMax = 100_000

/**
 * How long their definitions may be as text, together. In memory each takes two to five times as
 * much: measured were 0.8 KiB for a stream of one field, and 27 KiB for one of 256.
 */
const definitionsLengthMax = 64 * 1024 * 1024

/** Definitions that are kept for the next stream of the kind, and what they come to as text. */
const shapesMax = 1_000
const shapesLengthMax = 8 * 1024 * 1024

/** The streams that readings arrive for, ready to judge them. */
export class StreamDirectory {
  readonly #load: (id: StreamId) => Promise<StreamVersion | undefined>
  readonly #streams = new LruMap<StreamId, HeldStream>(
    streamsMax,
    { of: ({ definitionLength }) => definitionLength, max: definitionsLengthMax },
    (held) => {
      held.stream = undefined
    },
  )
  readonly #shapes = new Shapes()
  /** Grows with each `forget`: what was read before it may be outdated. */
  #forgotten = 0

  constructor(load: (id: StreamId) => Promise<StreamVersion | undefined>) {
    this.#load = load
  }

  get size(): number {
    return this.#streams.size
  }

  /**
   * The place of a stream if it is at hand. Whoever keeps it spares itself the next look-up, and holds on to
   * nothing: it is empty as soon as the stream is not at hand any more, or is another one. To look into it is
   * no use of the stream that would keep it at hand.
   */
  slot(id: StreamId): StreamSlot | undefined {
    return this.#streams.get(id)
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
      const { stream, definitionLength } = this.#shapes.compile(loaded)
      this.#streams.set(id, { stream, definitionLength })
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

/** Where a stream is, as long as it is at hand. */
export interface StreamSlot {
  readonly stream: CompiledStream | undefined
}

interface SizedStream {
  readonly stream: CompiledStream
  readonly definitionLength: number
}

interface HeldStream {
  stream: CompiledStream | undefined
  readonly definitionLength: number
}

/** What streams of one definition have in common, so that a fleet has it once. */
type Shape = Pick<
  CompiledStream,
  | 'schema'
  | 'format'
  | 'formatOptions'
  | 'transform'
  | 'decode'
  | 'map'
  | 'judge'
  | 'reads'
  | 'scan'
>

interface SizedShape {
  readonly shape: Shape
  readonly definitionLength: number
}

/** The definitions that streams are loaded with: their own text is what they are known by. */
class Shapes {
  readonly #shapes = new LruMap<string, SizedShape>(shapesMax, {
    of: ({ definitionLength }) => definitionLength,
    max: shapesLengthMax,
  })
  readonly #owners = new LruMap<UserId, UserId>(shapesMax)

  compile(loaded: StreamVersion): SizedStream {
    const { schema, format = 'json', formatOptions, transform = [] } = loaded
    const text = JSON.stringify([schema, format, formatOptions, transform])
    const definitionLength = text.length
    const known = this.#shapes.get(text)
    const shape = known?.shape ?? shapeOf(loaded)
    if (known === undefined) this.#shapes.set(text, { shape, definitionLength })
    const { isPaused, isInternal, ownerId } = loaded
    const stream = { ...loaded, ...shape, ownerId: this.#owner(ownerId) }
    // What the service itself writes is held back where it comes from.
    const isRefused = isPaused && !isInternal
    return {
      stream: isRefused ? { ...stream, judge: refusePaused, scan: undefined } : stream,
      definitionLength,
    }
  }

  /** One text for all streams of an owner: whether it is the same is asked of every message. */
  #owner(ownerId: UserId): UserId {
    const known = this.#owners.get(ownerId)
    if (known === undefined) this.#owners.set(ownerId, ownerId)
    return known ?? ownerId
  }
}

/** A version that is tried, and that no reading arrives for. */
export function compiledStream(version: StreamVersion): CompiledStream {
  return { ...version, ...shapeOf(version) }
}

function shapeOf(stream: StreamVersion): Shape {
  const { schema, format = 'json', formatOptions, transform = [] } = stream
  const mapping = transform.length === 0 ? textMappingOf(schema) : valueMappingOf(schema)
  return {
    schema,
    format,
    ...(formatOptions && { formatOptions }),
    ...(transform.length > 0 && { transform }),
    decode: decoderOf(format, stream),
    ...(mapping && { map: mapping.map }),
    judge: judgeOf(schema, transform),
    reads: contextReadBy(schema),
    scan: mapping === undefined && transform.length === 0 ? scanOf(schema) : mapping?.scan,
  }
}

/** A transform needs the fields as values, which no scan has. */
function valueMappingOf(schema: StreamVersion['schema']) {
  const map = mapperOf(schema)
  return map && { map, scan: undefined }
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
