import { api } from '../../../api/client.ts'
import { nextCursorIn } from '../../../api/next-page.ts'

/** What a shorter retention would remove at once. */
export interface Removal {
  /** What is older goes. */
  readonly before: string
  readonly streams: readonly RemovalOfStream[]
  /** Streams that say themselves how long they keep readings: nothing changes for them. */
  readonly own: number
  /** Whether there are more streams than were counted. */
  readonly isPartial: boolean
}

export interface RemovalOfStream {
  readonly streamId: string
  readonly name: string
  readonly readings: number
}

/** Streams that are counted: each takes two calls. */
export const countedMax = 100

/** Calls at once: a browser has six connections. */
const atOnce = 3

/** The API has no operation that tells it: readings are counted, stream by stream. @throws ApiFailure */
export async function countRemoval(
  vaultId: string,
  beforeMs: number,
  signal?: AbortSignal,
): Promise<Removal> {
  const before = new Date(beforeMs).toISOString()
  const { answer: streams, headers } = await api.callRaw('listStreams', {
    query: { vaultId, limit: countedMax },
    signal,
  })
  const found: RemovalOfStream[] = []
  let own = 0
  const rest = [...streams]
  const work = async () => {
    for (let next = rest.shift(); next; next = rest.shift()) {
      const readings = await countOf(next.streamId, before, signal)
      if (readings === undefined) own += 1
      else if (readings > 0) found.push({ streamId: next.streamId, name: next.name, readings })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return {
    before,
    streams: found.toSorted((one, other) => other.readings - one.readings),
    own,
    isPartial: nextCursorIn(headers) !== undefined,
  }
}

/** Readings of a stream that are older; undefined: it says itself how long they are kept. */
async function countOf(
  streamId: string,
  end: string,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const path = { streamId }
  const { processing, schema } = await api.call('readStream', { path, signal })
  const { raw } = (processing['retention'] ?? {}) as { readonly raw?: string }
  if (raw !== undefined) return undefined
  const [field] = Object.keys(schema)
  if (field === undefined) return 0
  let readings = 0
  let cursor: string | undefined
  do {
    const page = await api.call('readReadings', {
      path,
      query: { end, aggregation: '366d', fields: `${field}:count`, limit: 1000, cursor },
      signal,
    })
    for (const bucket of page.data) readings += bucket['count'] ?? 0
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return readings
}
