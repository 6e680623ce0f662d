import { sql } from 'kysely'
import { monotonicMs } from '../../core/clock.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import { LruMap } from '../../core/lru-map.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { SourceStatus } from '../../streams/data-streams/stream-sources.ts'
import { stateOf, type streamStates } from '../../streams/data-streams/stream-state.ts'

/** How long nothing must have come of a stream that is called silent, as parameters have it. */
export const silentAfter = '15m'
const silentAfterUs = 15 * 60_000_000

export interface StreamFigures {
  readonly total: number
  readonly byState: Readonly<Record<(typeof streamStates)[number], number>>
  /** Streams that are not paused, and have sent something, and nothing of late. */
  readonly silent: number
}

interface Counts {
  readonly total: number
  readonly paused: number
  readonly active: number
  readonly silent: number
}

interface Counted extends Counts {
  /** Streams that are fetched, as they were when they were counted. */
  readonly fetched: readonly CountedSource[]
}

interface CountedSource {
  readonly id: StreamId
  readonly isPaused: boolean
  readonly hasReceived: boolean
}

/** How long a count is good for. To go through thousands of streams takes milliseconds, and many may look at once. */
const countedForMs = 2_000

/** Owners whose counts are kept. */
const ownersMax = 1_000

/** How many streams of each owner do what. */
export class CountedStreams {
  readonly #state: StateDatabase
  readonly #nowMs: () => number
  readonly #counts = new LruMap<UserId, { readonly counted: Counted; readonly atMs: number }>(
    ownersMax,
  )

  constructor(state: StateDatabase, nowMs = monotonicMs) {
    this.#state = state
    this.#nowMs = nowMs
  }

  async of(ownerId: UserId, nowUs: number): Promise<Counted> {
    const known = this.#counts.get(ownerId)
    if (known && this.#nowMs() - known.atMs < countedForMs) return known.counted
    const counted = await countStreams(this.#state, ownerId, nowUs)
    this.#counts.set(ownerId, { counted, atMs: this.#nowMs() })
    return counted
  }
}

async function countStreams(
  state: StateDatabase,
  ownerId: UserId,
  nowUs: number,
): Promise<Counted> {
  // One statement, as both are of one moment then: a source whose stream was not counted would be taken off nothing.
  const { rows } = await sql<Counts & { readonly sources: string }>`SELECT count(*) AS total,
      count(stream.paused_at) AS paused,
      count(CASE WHEN stream.paused_at IS NULL AND counters.received > 0 THEN 1 END) AS active,
      count(CASE WHEN stream.paused_at IS NULL AND counters.received > 0
        AND counters.last_received_at <= ${nowUs - silentAfterUs} THEN 1 END) AS silent,
      (SELECT json_group_array(json_array(fetched.id, fetched.paused_at IS NOT NULL, own.received > 0))
        FROM stream_sources AS source
          JOIN data_streams AS fetched ON fetched.id = source.stream_id
          LEFT JOIN stream_counters AS own ON own.stream_id = source.stream_id
        WHERE source.owner_id = ${ownerId}) AS sources
    FROM data_streams AS stream
      LEFT JOIN stream_counters AS counters ON counters.stream_id = stream.id
    WHERE stream.owner_id = ${ownerId}`.execute(state)
  const { sources, ...counts } = rows[0] as (typeof rows)[number]
  const listed = JSON.parse(sources) as readonly (readonly [StreamId, number, number | null])[]
  const fetched = listed.map(([id, isPaused, hasReceived]) => ({
    id,
    isPaused: isPaused === 1,
    hasReceived: hasReceived === 1,
  }))
  return { ...counts, fetched }
}

/** How the streams of an owner are doing. */
export function streamFigures(
  { total, paused, active, silent, fetched }: Counted,
  statusOf: (id: StreamId) => Pick<SourceStatus, 'isLasting'> | undefined,
): StreamFigures {
  const byState = { created: total - paused - active, active, paused, error: 0 }
  // Failures are in memory: each takes a stream out of the state that its row shows.
  for (const { id, ...stream } of fetched) {
    byState[stateOf({ ...stream, isFailing: false })]--
    byState[stateOf({ ...stream, isFailing: statusOf(id)?.isLasting === true })]++
  }
  return { total, byState, silent }
}
