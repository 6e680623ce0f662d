import type { FavoriteId } from '../../core/ids.ts'

export const favoriteTypes = ['NFT', 'TOKEN'] as const

export type FavoriteType = (typeof favoriteTypes)[number]

/** Favorites of one user: more than anybody marks by hand. */
export const favoritesMax = 10_000

/** What a user wants to find again: a reference that means something to them, not to us. */
export interface NewFavorite {
  readonly type: FavoriteType
  readonly ref: string
}

export interface Favorite extends NewFavorite {
  readonly id: FavoriteId
  readonly createdAtUs: number
}
