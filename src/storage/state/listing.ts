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

/** A list in one of its orders. An index has to begin with its condition, order and id. */
export interface Listing<Table extends ListedTable> {
  readonly table: Table
  readonly condition: RawBuilder<boolean>
  readonly orderBy: 'created_at' | 'name_folded'
  readonly direction: 'asc' | 'desc'
  /** Under which name, and for whom, the rows are counted. */
  readonly total: readonly [Total, string]
}

export interface Slice {
  readonly offset: number
  readonly limit: number
}

export interface ListedPage<Row> {
  readonly rows: readonly Row[]
  readonly total: number
}

/**
 * One page of a list, and how many rows the list has.
 *
 * What comes before the page is passed within the index, which is a tenth of the work of passing
 * rows; and from the end that is nearer, so that the last page costs what the first one does.
 */
export async function pageOf<Table extends ListedTable>(
  state: StateDatabase,
  listing: Listing<Table>,
  { offset, limit }: Slice,
): Promise<ListedPage<Selectable<StateSchema[Table]>>> {
  // One view of the state for both: a row that comes in between would shift a page from the end.
  return await state.transaction().execute(async (view) => {
    const total = await totalOf(view, ...listing.total)
    const wanted = Math.min(limit, total - offset)
    if (wanted <= 0) return { rows: [], total }
    const isNearEnd = offset > total / 2
    const opposite = listing.direction === 'asc' ? 'desc' : 'asc'
    const ids = idsOf(listing, isNearEnd ? opposite : listing.direction, {
      offset: isNearEnd ? total - offset - wanted : offset,
      limit: wanted,
    })
    const { rows } = await sql<Selectable<StateSchema[Table]>>`
      SELECT * FROM ${sql.table(listing.table)} WHERE id IN (${ids})
      ORDER BY ${order(listing, listing.direction)}`.execute(view)
    return { rows, total }
  })
}

function idsOf(
  listing: Omit<Listing<ListedTable>, 'total'>,
  direction: 'asc' | 'desc',
  { offset, limit }: Slice,
): RawBuilder<unknown> {
  return sql`SELECT id FROM ${sql.table(listing.table)} WHERE ${listing.condition}
    ORDER BY ${order(listing, direction)} LIMIT ${limit} OFFSET ${offset}`
}

function order(
  { orderBy }: Pick<Listing<'templates'>, 'orderBy'>,
  direction: 'asc' | 'desc',
): RawBuilder<unknown> {
  const way = sql.raw(direction)
  return sql`${sql.ref(orderBy)} ${way}, id ${way}`
}
