import type { StreamId, UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { SourceState, SourceStatus } from './stream-sources.ts'

/** A stream that is fetched, and how its source is doing. */
export interface FetchedStream {
  readonly streamId: StreamId
  readonly streamName: string
  readonly isPaused: boolean
  readonly status: SourceStatus
}

/** Streams of an owner that are fetched: as many as a user may have. */
export async function fetchedStreams(
  state: StateDatabase,
  ownerId: UserId,
  statusOf: (id: StreamId) => SourceStatus | undefined,
): Promise<readonly FetchedStream[]> {
  const rows = await state
    .selectFrom('stream_sources as source')
    .innerJoin('data_streams as stream', 'stream.id', 'source.stream_id')
    .select(['stream.id', 'stream.name', 'stream.paused_at'])
    .where('source.owner_id', '=', ownerId)
    .execute()
  return rows.flatMap(({ id, name, paused_at }) => {
    const status = statusOf(id as StreamId)
    if (!status) return []
    return [{ streamId: id as StreamId, streamName: name, isPaused: paused_at !== null, status }]
  })
}

/** A pause is answered before the source has ended. */
export function sourceStateOf({
  isPaused,
  status,
}: Pick<FetchedStream, 'isPaused' | 'status'>): SourceState {
  return isPaused ? 'paused' : status.state
}
