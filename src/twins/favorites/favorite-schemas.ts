import {
  component,
  dateTime,
  idParams,
  keyHeaders,
  noContent,
  pageOf,
  pageQuery,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { favoriteTypes } from './favorite.ts'

const type = { type: 'string', enum: [...favoriteTypes] } as const

const ref = {
  ...text,
  minLength: 1,
  maxLength: 1_000,
  description: 'What it refers to: the service does not look into it.',
  examples: ['rEXAMPLE/boiler-7'],
} as const

const favoriteSchema = component('Favorite', record({ id: uuid, created_at: dateTime, type, ref }))

export const listFavorites = {
  operationId: 'listFavorites',
  summary: "List one's own favorites.",
  tags: ['Favorites'],
  params: idParams('userId'),
  querystring: query(pageQuery),
  response: { 200: pageOf(favoriteSchema) },
} as const

export const createFavorite = {
  operationId: 'createFavorite',
  summary: 'Add a favorite.',
  tags: ['Favorites'],
  params: idParams('userId'),
  headers: keyHeaders,
  body: component('NewFavorite', record({ type, ref })),
  response: { 201: favoriteSchema },
} as const

export const deleteFavorite = {
  operationId: 'deleteFavorite',
  summary: 'Remove a favorite.',
  tags: ['Favorites'],
  params: idParams('userId', 'favoriteId'),
  response: { 204: noContent },
} as const
