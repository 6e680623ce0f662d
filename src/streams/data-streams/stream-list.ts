import { sql } from 'kysely'
import type { StreamId, UserId, VaultId } from '../../core/ids.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StreamType } from './stream-type.ts'
import type { Tags } from './tags.ts'

/** Which streams of a list are asked for: those that meet all of it. */
export interface StreamFilter {
  readonly vaultId?: VaultId
  /** In lower case. */
  readonly name?: { readonly text: string; readonly isPrefix: boolean }
  readonly tags: Tags
}

/** What a list tells of a stream. */
export interface ListedStream {
  readonly id: StreamId
  readonly vaultId: VaultId
  readonly name: string
  readonly type: StreamType
  readonly tags: Tags
  readonly createdAtUs: number
  readonly isPaused: boolean
  readonly hasReceived: boolean
}

/**
 * Streams of an owner in the order of their creation. What is filtered out is passed over within an
 * index.
 */
export async function listStreams(
  state: StateDatabase,
  ownerId: UserId,
  page: {
    readonly filter: StreamFilter
    readonly after: ListCursor | undefined
    readonly limit: number
  },
): Promise<readonly ListedStream[]> {
  const rows = await state
    .selectFrom('data_streams as stream')
    .leftJoin('stream_counters as counters', 'counters.stream_id', 'stream.id')
    .select(['stream.id', 'stream.vault_id', 'stream.name', 'stream.type', 'stream.created_at'])
    .select(['stream.tags', 'stream.paused_at', 'counters.received'])
    .where('stream.id', 'in', idsOf(state, ownerId, page))
    .orderBy('stream.created_at')
    .orderBy('stream.id')
    .execute()
  return rows.map((row) => ({
    id: row.id as StreamId,
    vaultId: row.vault_id as VaultId,
    name: row.name,
    type: row.type as StreamType,
    tags: JSON.parse(row.tags) as Tags,
    createdAtUs: row.created_at,
    isPaused: row.paused_at !== null,
    hasReceived: (row.received ?? 0) > 0,
  }))
}

function idsOf(
  state: StateDatabase,
  ownerId: UserId,
  { filter, after, limit }: Parameters<typeof listStreams>[2],
) {
  let query = idsThatMeet(state, ownerId, filter)
  if (after) {
    query = query.where((where) =>
      where(where.refTuple('created_at', 'id'), '>', where.tuple(after.createdAtUs, after.id)),
    )
  }
  return query.orderBy('created_at').orderBy('id').limit(limit)
}

/** The ids of all streams of an owner that meet a filter: a part of queries. */
export function idsThatMeet(state: StateDatabase, ownerId: UserId, filter: StreamFilter) {
  const { vaultId, name, tags } = filter
  let query = state.selectFrom('data_streams').select('id').where('owner_id', '=', ownerId)
  if (vaultId !== undefined) query = query.where('vault_id', '=', vaultId)
  if (name !== undefined) {
    const { text, isPrefix } = name
    const part = sql<string>`substr(name_folded, 1, length(${text}))`
    query = isPrefix ? query.where(part, '=', text) : query.where('name_folded', '=', text)
  }
  for (const [key, value] of Object.entries(tags)) {
    const tagged = state
      .selectFrom('data_stream_tags')
      .select('stream_id')
      .where('owner_id', '=', ownerId)
      .where('key', '=', key)
      .where('value', '=', value)
    query = query.where('id', 'in', tagged)
  }
  return query
}
