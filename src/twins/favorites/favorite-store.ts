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

export interface FavoriteStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clock
}

export class FavoriteStore {
  readonly #needs: FavoriteStoreNeeds

  constructor(needs: FavoriteStoreNeeds) {
    this.#needs = needs
  }

  /**
   * A new favorite, and the changes that store it. They find nothing to change when the user has the
   * same one already, or as many as one can have.
   */
  plan(
    ownerId: UserId,
    { type, ref }: NewFavorite,
  ): { readonly favorite: Favorite; readonly changes: readonly Compilable[] } {
    const { state, clock } = this.#needs
    const id = newId<FavoriteId>()
    const createdAtUs = clock.nowUs()
    const insert = state
      .insertInto('favorites')
      .columns(['id', 'owner_id', 'created_at', 'type', 'ref'])
      .expression(
        sql`SELECT ${id}, ${ownerId}, ${createdAtUs}, ${type}, ${ref}
              WHERE ${isBelow('favorites', ownerId, favoritesMax)}`,
      )
      .onConflict((conflict) => conflict.doNothing())
    return {
      favorite: { id, createdAtUs, type, ref },
      changes: [insert, countChange(state, 'favorites', ownerId, 1)],
    }
  }

  async has(ownerId: UserId, { type, ref }: NewFavorite): Promise<boolean> {
    const row = await this.#needs.state
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
      this.#needs.state,
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
    const { state, writer } = this.#needs
    return await writer.attempt(
      state.deleteFrom('favorites').where('id', '=', id).where('owner_id', '=', ownerId),
      countChange(state, 'favorites', ownerId, -1),
    )
  }
}
