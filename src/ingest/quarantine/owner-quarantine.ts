import { type RawBuilder, sql } from 'kysely'
import type { StreamId, UserId } from '../../core/ids.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import {
  fittingOf,
  type HeldByReason,
  type HeldReading,
  heldColumns,
  heldReading,
  heldTimestamp,
  type PageLimits,
  type QuarantineFilter,
} from './quarantine-store.ts'

/** Entries of all streams of an owner that are meant. */
export interface OwnerFilter extends Omit<QuarantineFilter, 'ids'> {
  readonly streamId: StreamId | undefined
}

/** A refused reading, with the stream that it is of. */
export interface HeldOfStream extends HeldReading {
  readonly streamId: StreamId
  readonly streamName: string
}

export interface OwnerPage {
  /** Fewer than were asked for, or none, where some have left the quarantine while they were looked for. */
  readonly entries: readonly HeldOfStream[]
  /** Where the next page begins, if there is one. */
  readonly next: Pick<Place, 'id' | 'receivedAtUs'> | undefined
}

/** How many entries a stream has with a reason. */
export interface HeldGroup extends HeldByReason {
  readonly streamId: string
  readonly streamName: string
}

export interface OwnerCounts {
  readonly entries: number
  /** The most frequent first. */
  readonly reasons: readonly HeldByReason[]
}

/** Where an entry stands in the list, which goes by receipt. */
interface Place {
  readonly streamId: string
  readonly id: number
  readonly receivedAtUs: number
}

/** Refused readings of all streams of an owner. */
export class OwnerQuarantine {
  readonly #state: StateDatabase

  constructor(state: StateDatabase) {
    this.#state = state
  }

  /** The newest first. */
  async page(
    ownerId: UserId,
    filter: OwnerFilter,
    { before, limits }: { readonly before: ListCursor | undefined; readonly limits: PageLimits },
  ): Promise<OwnerPage> {
    const places = await this.#places(ownerId, filter, { before, limit: limits.entries + 1 })
    const sizes = await this.#sizes(places)
    const count = fittingOf(sizes, limits)
    const entries = await this.#read(sizes.slice(0, count))
    // What has left meanwhile ends no walk: it goes on behind the last place that was looked at.
    if (count < sizes.length) return { entries, next: sizes[count - 1] }
    return { entries, next: places.length > limits.entries ? places.at(-1) : undefined }
  }

  /** How many entries there are for each reason. */
  async counts(ownerId: UserId): Promise<OwnerCounts> {
    const reasons = await this.#state
      .selectFrom('quarantine_counts')
      .select(['reason', (row) => row.fn.sum<number>('entries').as('entries')])
      .where('owner_id', '=', ownerId)
      .groupBy('reason')
      .orderBy('entries', 'desc')
      .orderBy('reason')
      .execute()
    return { entries: reasons.reduce((sum, one) => sum + one.entries, 0), reasons }
  }

  /** Streams and reasons with the most entries. */
  async groups(ownerId: UserId, limit: number): Promise<readonly HeldGroup[]> {
    return await this.#state
      .selectFrom('quarantine_counts as counts')
      .innerJoin('data_streams as stream', 'stream.id', 'counts.stream_id')
      .select(['counts.stream_id as streamId', 'stream.name as streamName'])
      .select(['counts.reason', 'counts.entries'])
      .where('counts.stream_id', 'in', (some) =>
        // Names are looked up of those only that are shown.
        some
          .selectFrom('quarantine_counts')
          .select('stream_id')
          .where('owner_id', '=', ownerId)
          .orderBy('entries', 'desc')
          .orderBy('stream_id')
          .limit(limit),
      )
      .orderBy('counts.entries', 'desc')
      .orderBy('counts.stream_id')
      .orderBy('counts.reason')
      .limit(limit)
      .execute()
  }

  /** How many streams and reasons there are that have entries. */
  async groupCount(ownerId: UserId): Promise<number> {
    const { groups } = await this.#state
      .selectFrom('quarantine_counts')
      .select((row) => row.fn.countAll<number>().as('groups'))
      .where('owner_id', '=', ownerId)
      .executeTakeFirstOrThrow()
    return groups
  }

  /** An index has the places of one reason in their order, so there is one look for each. */
  async #places(
    ownerId: UserId,
    filter: OwnerFilter,
    page: { readonly before: ListCursor | undefined; readonly limit: number },
  ): Promise<readonly Place[]> {
    const { streamId } = filter
    const rest = conditionsOf(filter, page.before)
    const newest = sql`ORDER BY received_at DESC, journal_offset DESC LIMIT ${page.limit}`
    const columns = sql`stream_id AS "streamId", journal_offset AS id, received_at AS "receivedAtUs"`
    if (streamId !== undefined) {
      const named =
        filter.reasons.length === 0 ? [] : [sql`reason IN (${sql.join(filter.reasons)})`]
      const conditions = [sql`stream_id = ${streamId}`, ...named, ...rest]
      return await this.#found(
        sql`SELECT ${columns} FROM quarantine WHERE ${allOf(conditions)} ${newest}`,
      )
    }
    const known = (await this.counts(ownerId)).reasons.map(({ reason }) => reason)
    const { reasons } = filter
    const wanted = reasons.length === 0 ? known : known.filter((one) => reasons.includes(one))
    if (wanted.length === 0) return []
    const looks = wanted.map((reason) => {
      const conditions = [sql`owner_id = ${ownerId}`, sql`reason = ${reason}`, ...rest]
      return sql`SELECT * FROM (SELECT ${columns}, received_at, journal_offset
        FROM quarantine WHERE ${allOf(conditions)} AND
          EXISTS (SELECT 1 FROM data_streams WHERE data_streams.id = quarantine.stream_id)
        ${newest})`
    })
    return await this.#found(sql`${sql.join(looks, sql` UNION ALL `)} ${newest}`)
  }

  async #found(query: RawBuilder<unknown>): Promise<readonly Place[]> {
    return (await (query as RawBuilder<Place>).execute(this.#state)).rows
  }

  /** Sizes of the payloads, in the order of the places; what has left the quarantine meanwhile is left out. */
  async #sizes(places: readonly Place[]): Promise<readonly (Place & { readonly bytes: number })[]> {
    const rows = await this.#state
      .selectFrom('quarantine')
      .select(['stream_id', 'journal_offset', 'payload_bytes'])
      .where(at(places))
      .execute()
    const bytes = new Map(rows.map((row) => [row.journal_offset, row.payload_bytes]))
    return places.flatMap((place) => {
      const size = bytes.get(place.id)
      return size === undefined ? [] : [{ ...place, bytes: size }]
    })
  }

  async #read(places: readonly Place[]): Promise<readonly HeldOfStream[]> {
    const rows = await this.#state
      .selectFrom('quarantine')
      .innerJoin('data_streams as stream', 'stream.id', 'quarantine.stream_id')
      .select(['stream.id as stream_id', 'stream.name as stream_name'])
      .select(heldColumns)
      .select(heldTimestamp)
      .where(at(places))
      .execute()
    return rows
      .map((row) => ({
        ...heldReading(row),
        streamId: row.stream_id as StreamId,
        streamName: row.stream_name,
      }))
      .toSorted((one, other) => other.receivedAtUs - one.receivedAtUs || other.id - one.id)
  }
}

function conditionsOf(
  { startUs, endUs }: OwnerFilter,
  before: ListCursor | undefined,
): readonly RawBuilder<unknown>[] {
  return [
    ...(startUs === undefined ? [] : [sql`received_at >= ${startUs}`]),
    ...(endUs === undefined ? [] : [sql`received_at < ${endUs}`]),
    ...(before === undefined
      ? []
      : [sql`(received_at, journal_offset) < (${before.createdAtUs}, ${Number(before.id)})`]),
  ]
}

function allOf(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join(conditions, sql` AND `)
}

/** A condition that is met at these places. */
function at(places: readonly Place[]): RawBuilder<boolean> {
  const some = JSON.stringify(places.map(({ streamId, id }) => [streamId, id]))
  return sql<boolean>`(quarantine.stream_id, quarantine.journal_offset) IN
    (SELECT value ->> 0, value ->> 1 FROM json_each(${some}))`
}
