import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import { type Favorite, favoriteTypes } from './favorite.ts'

const type = s.choice(favoriteTypes)

const ref = {
  ...s.text,
  minLength: 1,
  maxLength: 1_000,
  description: 'What it refers to: the service does not look into it.',
  examples: ['rEXAMPLE/boiler-7'],
}

export const favoriteSchema = s.component(
  'Favorite',
  s.record({ id: s.uuid, created_at: s.dateTime, type, ref }),
)

export const newFavoriteSchema = s.component('NewFavorite', s.record({ type, ref }))

export function favoriteBody(favorite: Favorite): Static<typeof favoriteSchema> {
  const { id, createdAtUs, ...rest } = favorite
  return { id, created_at: formatUs(createdAtUs), type: rest.type, ref: rest.ref }
}
