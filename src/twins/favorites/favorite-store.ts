import { type Compilable, sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import { type FavoriteId, newId, type UserId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { pageOf, type Slice } from '../../storage/state/listing.ts'
import { countChange, isBelow } from '../../storage/state/totals.ts'
import { type Favorite, type FavoriteType, favoritesMax, type NewFavorite } from './favorite.ts'

export interface FavoritePage {
  readonly favorites: readonly Favorite[]
  readonly total: number
}

export class FavoriteStore {
  readonly #state: StateDatabase
  readonly #writer: StateWriter
  readonly #clock: Clock

  constructor(state: StateDatabase, writer: StateWriter, clock: Clock) {
    this.#state = state
    this.#writer = writer
    this.#clock = clock
  }

  /**
   * A new favorite, and the changes that store it. They find nothing to change when the user has the
   * same one already, or as many as one can have.
   */
  plan(
    ownerId: UserId,
    { type, ref }: NewFavorite,
  ): { readonly favorite: Favorite; readonly changes: readonly Compilable[] } {
    const id = newId<FavoriteId>()
    const createdAtUs = this.#clock.nowUs()
    const insert = this.#state
      .insertInto('favorites')
      .columns(['id', 'owner_id', 'created_at', 'type', 'ref'])
      .expression(
        sql`SELECT ${id}, ${ownerId}, ${createdAtUs}, ${type}, ${ref}
              WHERE ${isBelow('favorites', ownerId, favoritesMax)}`,
      )
      .onConflict((conflict) => conflict.doNothing())
    return {
      favorite: { id, createdAtUs, type, ref },
      changes: [insert, countChange(this.#state, 'favorites', ownerId, 1)],
    }
  }

  async has(ownerId: UserId, { type, ref }: NewFavorite): Promise<boolean> {
    const row = await this.#state
      .selectFrom('favorites')
      .select('id')
      .where('owner_id', '=', ownerId)
      .where('type', '=', type)
      .where('ref', '=', ref)
      .executeTakeFirst()
    return row !== undefined
  }

  async list(ownerId: UserId, slice: Slice): Promise<FavoritePage> {
    const { rows, total } = await pageOf(
      this.#state,
      {
        table: 'favorites',
        condition: sql<boolean>`owner_id = ${ownerId}`,
        orderBy: 'created_at',
        direction: 'asc',
        total: ['favorites', ownerId],
      },
      slice,
    )
    const favorites = rows.map(({ id, created_at: createdAtUs, type, ref }) => ({
      id: id as FavoriteId,
      createdAtUs,
      type: type as FavoriteType,
      ref,
    }))
    return { favorites, total }
  }

  /** False when the user has no such favorite. */
  async remove(ownerId: UserId, id: FavoriteId): Promise<boolean> {
    return await this.#writer.attempt(
      this.#state.deleteFrom('favorites').where('id', '=', id).where('owner_id', '=', ownerId),
      countChange(this.#state, 'favorites', ownerId, -1),
    )
  }
}
