import { sql } from 'kysely'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StreamActivity } from './stream-health.ts'
import {
  countedMax,
  countStreams,
  type FoundStream,
  idsThatMeet,
  listStreams,
  type StreamFilter,
  streamsWithIds,
} from './stream-list.ts'
import {
  isPlaced,
  type PlacedSort,
  type RankedSort,
  rankedMax,
  type StreamCursor,
  type StreamSort,
} from './stream-order.ts'

/** One page of a list, of whose order its cursor is. */
export interface PageWish {
  readonly filter: StreamFilter
  readonly sort: StreamSort
  readonly cursor: StreamCursor | undefined
  readonly limit: number
}

export interface StreamPage {
  readonly streams: readonly FoundStream[]
  /** Undefined where more meet the filter than anybody counts. */
  readonly total: number | undefined
  /** Where the next page begins, if there is one. */
  readonly next: StreamCursor | undefined
}

export interface PageNeeds {
  readonly state: StateDatabase
  readonly activity: StreamActivity
}

/** @throws DomainError `unsupported_query` for what takes a look at each of too many streams */
export async function pageOfStreams(
  needs: PageNeeds,
  ownerId: UserId,
  wish: PageWish,
): Promise<StreamPage> {
  const { filter, sort, cursor, limit } = wish
  const total = await totalOf(needs, ownerId, wish)
  if (isPlaced(sort)) {
    const after = cursor && 'id' in cursor ? cursor : undefined
    return { total, ...(await placedPage(needs, ownerId, { filter, sort, after, limit })) }
  }
  const offset = cursor && 'offset' in cursor ? cursor.offset : 0
  const ids = await rankedIds(needs, ownerId, { filter, sort })
  const end = Math.min(offset + limit, ids.length)
  return {
    total,
    streams: await streamsWithIds(needs.state, ids.slice(offset, end)),
    next: end < ids.length ? { sort, offset: end } : undefined,
  }
}

/** How many streams meet the filter; what needs more than an index is worked out of so many only. */
async function totalOf(
  { state }: PageNeeds,
  ownerId: UserId,
  { filter, sort }: PageWish,
): Promise<number | undefined> {
  const { standing, ...indexed } = filter
  const all = await countStreams(state, ownerId, indexed)
  if (standing === undefined && isPlaced(sort)) return all
  if (all === undefined) throw tooMany(isPlaced(sort) ? 'state and problem' : `sort=${sort}`)
  return standing === undefined ? all : await countStreams(state, ownerId, filter)
}

function tooMany(what: string): DomainError {
  const names = 'vaultId, name, contains, source or a tag'
  const message = `${what} can be had of ${countedMax} streams at most: choose some by ${names}`
  return new DomainError('unsupported_query', message)
}

async function placedPage(
  { state }: PageNeeds,
  ownerId: UserId,
  page: Parameters<typeof listStreams>[2] & { readonly sort: PlacedSort },
): Promise<Omit<StreamPage, 'total'>> {
  const { sort, limit } = page
  const found = await listStreams(state, ownerId, { ...page, limit: limit + 1 })
  const streams = found.slice(0, limit)
  const last = found.length > limit ? streams.at(-1) : undefined
  return { streams, next: last && { sort, value: valueOf(last, sort), id: last.id } }
}

function valueOf({ createdAtUs, nameFolded }: FoundStream, sort: PlacedSort): number | string {
  return sort.endsWith('name') ? nameFolded : createdAtUs
}

/** The first ids in an order by a figure; where it is the same, in that of creation. */
async function rankedIds(
  { state, activity }: PageNeeds,
  ownerId: UserId,
  { filter, sort }: { readonly filter: StreamFilter; readonly sort: RankedSort },
): Promise<readonly string[]> {
  const isFalling = sort.startsWith('-')
  if (sort.endsWith('rate')) {
    const busiest = await activity.busiest(ownerId, countedMax)
    const ids = await byCreation(state, ownerId, filter)
    return byRate(ids, busiest, isFalling).slice(0, rankedMax)
  }
  const column = sort.endsWith('quarantined') ? 'quarantined' : 'last_received_at'
  const figure = sql<number>`coalesce(${sql.ref(`counters.${column}`)}, 0)`
  const rows = await idsThatMeet(state, ownerId, filter)
    .leftJoin('stream_counters as counters', 'counters.stream_id', 'data_streams.id')
    .orderBy(figure, isFalling ? 'desc' : 'asc')
    .orderBy('created_at')
    .orderBy('id')
    .limit(rankedMax)
    .execute()
  return rows.map(({ id }) => id)
}

async function byCreation(
  state: StateDatabase,
  ownerId: UserId,
  filter: StreamFilter,
): Promise<readonly string[]> {
  const rows = await idsThatMeet(state, ownerId, filter)
    .orderBy('created_at')
    .orderBy('id')
    .limit(countedMax)
    .execute()
  return rows.map(({ id }) => id)
}

/** Streams of which as much is received keep the order that they have. */
function byRate(
  ids: readonly string[],
  rates: ReadonlyMap<string, number>,
  isFalling: boolean,
): readonly string[] {
  const rateOf = (id: string) => rates.get(id) ?? 0
  const way = isFalling ? -1 : 1
  return ids.toSorted((one, other) => way * (rateOf(one) - rateOf(other)))
}
