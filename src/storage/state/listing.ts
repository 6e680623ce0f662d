import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { StateDatabase } from './database.ts'
import type { StateSchema } from './schema.ts'
import { type Total, totalOf } from './totals.ts'

/** Tables whose lists have pages. */
type ListedTable =
  | 'templates'
  | 'vaults'
  | 'favorites'
  | 'asset_streams'
  | 'attachments'
  | 'signatures'
  | 'assets'

/** A list in one of its orders. An index has to begin with its condition, order and id. */
export interface Listing<Table extends ListedTable> {
  readonly table: Table
  readonly condition: RawBuilder<boolean>
  readonly orderBy: 'created_at' | 'name_folded'
  readonly direction: 'asc' | 'desc'
  /** Under which name, and for whom, the rows are counted. */
  readonly total: readonly [Total, string]
  readonly also?: AlsoListed
}

/** Rows of the same table that are in a list, too, and that its condition does not mean. */
export interface AlsoListed {
  /** A statement that selects their `count`. Where it is 0 nothing else is asked. */
  readonly count: RawBuilder<{ readonly count: number }>
  /** Statements that select `place`, which is what orders the list, and `id`: each goes along an index in that order. */
  readonly places: readonly RawBuilder<unknown>[]
}

export interface Slice {
  readonly offset: number
  readonly limit: number
}

export interface ListedPage<Row> {
  readonly rows: readonly Row[]
  readonly total: number
}

/** One page of a list, and how many rows the list has. */
export async function pageOf<Table extends ListedTable>(
  state: StateDatabase,
  listing: Listing<Table>,
  slice: Slice,
): Promise<ListedPage<Selectable<StateSchema[Table]>>> {
  // One view of the state for both: a row that comes in between would shift a page from the end.
  return await state.transaction().execute(async (view) => await pageIn(view, listing, slice))
}

/**
 * One page of a list, and how many rows the list has, in one view of the state.
 *
 * What comes before the page is passed within the index, which is a tenth of the work of passing
 * rows; and from the end that is nearer, so that the last page costs what the first one does.
 */
export async function pageIn<Table extends ListedTable>(
  view: StateDatabase,
  listing: Listing<Table>,
  { offset, limit }: Slice,
): Promise<ListedPage<Selectable<StateSchema[Table]>>> {
  const { total, places } = await extentOf(view, listing)
  const wanted = Math.min(limit, total - offset)
  if (wanted <= 0) return { rows: [], total }
  const isNearEnd = offset > total / 2
  const opposite = listing.direction === 'asc' ? 'desc' : 'asc'
  const ids = idsOf(places, isNearEnd ? opposite : listing.direction, {
    offset: isNearEnd ? total - offset - wanted : offset,
    limit: wanted,
  })
  const { rows } = await sql<Selectable<StateSchema[Table]>>`
    SELECT * FROM ${sql.table(listing.table)} WHERE id IN (${ids})
    ORDER BY ${order(listing, listing.direction)}`.execute(view)
  return { rows, total }
}

/** How many rows a list has, and statements of their places. */
async function extentOf(
  view: StateDatabase,
  { table, condition, orderBy, total, also }: Listing<ListedTable>,
): Promise<{ readonly total: number; readonly places: readonly RawBuilder<unknown>[] }> {
  const own = sql`SELECT ${sql.ref(orderBy)} AS place, id FROM ${sql.table(table)} WHERE ${condition}`
  const count = await totalOf(view, ...total)
  const others = also ? await countOf(view, also) : 0
  if (!also || others === 0) return { total: count, places: [own] }
  return { total: count + others, places: [own, ...also.places] }
}

/** How many rows are in a list beside those that its condition means. */
async function countOf(view: StateDatabase, { count }: AlsoListed): Promise<number> {
  const { rows } = await count.execute(view)
  return rows[0]?.count ?? 0
}

/** The ids of one slice of what several statements place, each in order: SQLite goes along all of them at once. */
export function idsOf(
  places: readonly RawBuilder<unknown>[],
  direction: 'asc' | 'desc',
  { offset, limit }: Slice,
): RawBuilder<unknown> {
  const way = sql.raw(direction)
  return sql`SELECT id FROM (${sql.join(places, sql` UNION ALL `)}
    ORDER BY place ${way}, id ${way} LIMIT ${limit} OFFSET ${offset})`
}

function order(
  { orderBy }: Pick<Listing<'templates'>, 'orderBy'>,
  direction: 'asc' | 'desc',
): RawBuilder<unknown> {
  const way = sql.raw(direction)
  return sql`${sql.ref(orderBy)} ${way}, id ${way}`
}
