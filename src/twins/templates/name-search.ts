import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Selectable, sql } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import { UserQueue } from '../../core/user-queue.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { ListedPage, Listing, Slice } from '../../storage/state/listing.ts'
import type { StateSchema } from '../../storage/state/schema.ts'

/** Names that are looked at in one go: about a millisecond, in which nothing else happens. */
const stretchNames = 10_000

type TemplateListing = Listing<'templates'>

/** Who looks for what, in which list. */
export interface Search {
  readonly userId: UserId
  readonly listing: TemplateListing
  /** A part of the names, folded like them. */
  readonly term: string
}

/** The order's value and the id of a row: everything up to it has been looked at. */
interface Place {
  readonly value: string | number
  readonly id: string
}

/**
 * Finds templates by a part of their names.
 *
 * It looks at every name of the list: no index that both SQLite and PostgreSQL have knows parts of
 * words, and the totals of a page need all matches anyway. A million names take a tenth to a fifth
 * of a second, in stretches between which other requests have their turn.
 */
export class NameSearch {
  readonly #state: StateDatabase
  readonly #queue = new UserQueue('searches')

  constructor(state: StateDatabase) {
    this.#state = state
  }

  /** @throws DomainError `overloaded` when too many searches wait, or too many of this user */
  async pageOf(
    { userId, listing, term }: Search,
    slice: Slice,
  ): Promise<ListedPage<Selectable<StateSchema['templates']>>> {
    return await this.#queue.do(userId, () => this.#scan(listing, term, slice))
  }

  async #scan(
    listing: TemplateListing,
    term: string,
    { offset, limit }: Slice,
  ): Promise<ListedPage<Selectable<StateSchema['templates']>>> {
    const matches = sql<boolean>`name_folded LIKE ${`%${escaped(term)}%`} ESCAPE '\\'`
    const rows: Selectable<StateSchema['templates']>[] = []
    let total = 0
    let from: Place | undefined
    do {
      const to = await this.#placeAfter(listing, from)
      const stretch = sql<boolean>`${listing.condition} AND ${within(listing, from, to)} AND ${matches}`
      const found = await this.#count(stretch)
      const passed = Math.max(0, offset - total)
      if (rows.length < limit && passed < found) {
        rows.push(
          ...(await this.#rows(listing, stretch, { offset: passed, limit: limit - rows.length })),
        )
      }
      total += found
      from = to
      await nextTurn()
    } while (from)
    return { rows, total }
  }

  /** The last place of the next stretch; nothing when the stretch is the last one. */
  async #placeAfter(listing: TemplateListing, from: Place | undefined): Promise<Place | undefined> {
    const column = sql.ref<string | number>(listing.orderBy)
    const { rows } = await sql<Place>`
      SELECT ${column} AS value, id FROM templates
      WHERE ${listing.condition} AND ${within(listing, from, undefined)}
      ORDER BY ${order(listing)} LIMIT 1 OFFSET ${stretchNames - 1}`.execute(this.#state)
    return rows[0]
  }

  async #count(stretch: ReturnType<typeof sql<boolean>>): Promise<number> {
    const { rows } = await sql<{ readonly found: number }>`
      SELECT count(*) AS found FROM templates WHERE ${stretch}`.execute(this.#state)
    return rows[0]?.found ?? 0
  }

  async #rows(
    listing: TemplateListing,
    stretch: ReturnType<typeof sql<boolean>>,
    { offset, limit }: Slice,
  ): Promise<readonly Selectable<StateSchema['templates']>[]> {
    const { rows } = await sql<Selectable<StateSchema['templates']>>`
      SELECT * FROM templates WHERE id IN (
        SELECT id FROM templates WHERE ${stretch}
        ORDER BY ${order(listing)} LIMIT ${limit} OFFSET ${offset})
      ORDER BY ${order(listing)}`.execute(this.#state)
    return rows
  }
}

/** In a search term, % and _ mean themselves. */
function escaped(term: string): string {
  return term.replace(/[\\%_]/g, '\\$&')
}

/** Behind one place, and up to another, in the order of the list. */
function within(listing: TemplateListing, from: Place | undefined, to: Place | undefined) {
  const key = sql`(${sql.ref(listing.orderBy)}, id)`
  const isRising = listing.direction === 'asc'
  const behind = from
    ? sql`${key} ${sql.raw(isRising ? '>' : '<')} (${from.value}, ${from.id})`
    : sql`1 = 1`
  const upTo = to
    ? sql`${key} ${sql.raw(isRising ? '<=' : '>=')} (${to.value}, ${to.id})`
    : sql`1 = 1`
  return sql<boolean>`${behind} AND ${upTo}`
}

function order({ orderBy, direction }: TemplateListing) {
  const way = sql.raw(direction)
  return sql`${sql.ref(orderBy)} ${way}, id ${way}`
}
