import { type RawBuilder, sql } from 'kysely'
import type { FleetId, StreamId, UserId, VaultId } from '../../core/ids.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { hasInNameOrId, nameBeginsWith } from '../../storage/state/name-part.ts'
import { padded } from '../../storage/state/portions.ts'
import type { PlacedSort, StreamPlace } from './stream-order.ts'
import { type Standing, standsSo } from './stream-standing.ts'
import type { StreamType } from './stream-type.ts'
import type { Tags } from './tags.ts'

/** Which streams of a list are asked for: those that meet all of it. */
export interface StreamFilter {
  readonly vaultId?: VaultId
  /** Streams of devices of this fleet. */
  readonly fleetId?: FleetId
  /** In lower case. */
  readonly name?: { readonly text: string; readonly isPrefix: boolean }
  /** A part of the name, in any case, or the beginning of the id. */
  readonly contains?: string
  readonly tags: Tags
  /** One of these: what no table knows was found out before. */
  readonly ids?: readonly StreamId[]
  readonly standing?: Standing
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
  /** Set where it is of the device of a fleet. */
  readonly fleet?: { readonly fleetId: string; readonly device: string } | undefined
}

/** A stream of a list, with what it is sorted and judged by. */
export interface FoundStream extends ListedStream {
  readonly version: number
  /** The name in lower case, as the order has it. */
  readonly nameFolded: string
  /** Null for a stream that has received nothing. */
  readonly lastReceivedAtUs: number | null
  /** Readings that its quarantine holds now. */
  readonly quarantined: number
}

/** Streams beyond which nobody counts them: a page would take as long as hundreds of others. */
export const countedMax = 100_000

/**
 * Streams of an owner in the order of their creation, or in another one. What is filtered out is passed over within an
 * index.
 */
export async function listStreams(
  state: StateDatabase,
  ownerId: UserId,
  page: {
    readonly filter: StreamFilter
    readonly sort?: PlacedSort
    readonly after: ListCursor | StreamPlace | undefined
    readonly limit: number
  },
): Promise<readonly FoundStream[]> {
  const { filter, sort = 'created', after, limit } = page
  let ids = idsThatMeet(state, ownerId, filter)
  const { column, direction } = orderOf(sort)
  if (after) {
    const value = 'createdAtUs' in after ? after.createdAtUs : after.value
    const way = sql.raw(direction === 'asc' ? '>' : '<')
    ids = ids.where(sql<boolean>`(${sql.ref(column)}, id) ${way} (${value}, ${after.id})`)
  }
  const rows = await found(state)
    .where('stream.id', 'in', ids.orderBy(column, direction).orderBy('id', direction).limit(limit))
    .orderBy(`stream.${column}`, direction)
    .orderBy('stream.id', direction)
    .execute()
  return rows.map(foundStream)
}

/** Streams by their ids, in that order; without those that are gone. */
export async function streamsWithIds(
  state: StateDatabase,
  ids: readonly string[],
): Promise<readonly FoundStream[]> {
  if (ids.length === 0) return []
  const rows = await found(state).where('stream.id', 'in', padded(ids)).execute()
  const streams = new Map(rows.map((row) => [row.id, foundStream(row)]))
  return ids.flatMap((id) => streams.get(id) ?? [])
}

/** How many streams of an owner meet a filter; undefined for more than `countedMax`. */
export async function countStreams(
  state: StateDatabase,
  ownerId: UserId,
  filter: StreamFilter,
): Promise<number | undefined> {
  const { count } = await state
    .selectFrom(
      idsThatMeet(state, ownerId, filter)
        .limit(countedMax + 1)
        .as('met'),
    )
    .select((row) => row.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count > countedMax ? undefined : count
}

/** The ids of all streams of an owner that meet a filter: a part of queries. */
export function idsThatMeet(state: StateDatabase, ownerId: UserId, filter: StreamFilter) {
  const { vaultId, fleetId, name, contains, tags, ids, standing } = filter
  let query = state.selectFrom('data_streams').select('id').where('owner_id', '=', ownerId)
  if (vaultId !== undefined) query = query.where('vault_id', '=', vaultId)
  if (fleetId !== undefined) query = query.where('id', 'in', ofFleet(state, fleetId))
  if (name !== undefined) query = query.where(isNamed(name))
  if (contains !== undefined) query = query.where(hasInNameOrId(contains))
  if (ids !== undefined) query = query.where(isAmong(ids))
  if (standing !== undefined) query = query.where(standsSo(standing))
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

function ofFleet(state: StateDatabase, fleetId: FleetId) {
  return state
    .selectFrom('fleet_devices')
    .select((row) => row.ref('stream_id').$notNull().as('stream_id'))
    .where('fleet_id', '=', fleetId)
    .where('stream_id', 'is not', null)
}

function isNamed({ text, isPrefix }: NonNullable<StreamFilter['name']>): RawBuilder<boolean> {
  return isPrefix ? nameBeginsWith(text) : sql<boolean>`name_folded = ${text}`
}

function isAmong(ids: readonly StreamId[]): RawBuilder<boolean> {
  return sql<boolean>`id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`
}

function orderOf(sort: PlacedSort) {
  const column = sort.endsWith('name') ? ('name_folded' as const) : ('created_at' as const)
  const direction = sort.startsWith('-') ? ('desc' as const) : ('asc' as const)
  return { column, direction }
}

function found(state: StateDatabase) {
  return state
    .selectFrom('data_streams as stream')
    .leftJoin('stream_counters as counters', 'counters.stream_id', 'stream.id')
    .leftJoin('fleet_devices as device', 'device.stream_id', 'stream.id')
    .select(['device.fleet_id', 'device.name as device'])
    .select(['stream.id', 'stream.vault_id', 'stream.name', 'stream.type', 'stream.created_at'])
    .select(['stream.tags', 'stream.paused_at', 'stream.version', 'stream.name_folded'])
    .select(['counters.received', 'counters.last_received_at', 'counters.quarantined'])
}

type FoundRow = Awaited<ReturnType<ReturnType<typeof found>['execute']>>[number]

function foundStream(row: FoundRow): FoundStream {
  const { fleet_id: fleetId, device } = row
  const hasReceived = (row.received ?? 0) > 0
  return {
    id: row.id as StreamId,
    vaultId: row.vault_id as VaultId,
    name: row.name,
    type: row.type as StreamType,
    tags: JSON.parse(row.tags) as Tags,
    createdAtUs: row.created_at,
    isPaused: row.paused_at !== null,
    hasReceived,
    version: row.version,
    nameFolded: row.name_folded,
    lastReceivedAtUs: hasReceived ? row.last_received_at : null,
    quarantined: row.quarantined ?? 0,
    fleet: fleetId === null || device === null ? undefined : { fleetId, device },
  }
}
