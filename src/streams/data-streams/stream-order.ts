import { decodeCursor, encodeCursor } from '../../core/list-cursor.ts'

/** Orders in which each stream has a place that others do not move. */
export const placedSorts = ['created', '-created', 'name', '-name'] as const

/** Orders by figures, which change all the time: the first of them only. */
export const rankedSorts = [
  'lastReading',
  '-lastReading',
  'rate',
  '-rate',
  'quarantined',
  '-quarantined',
] as const

/** Streams that a list in an order by figures has: who looks for more of them filters. */
export const rankedMax = 1_000

export type PlacedSort = (typeof placedSorts)[number]
export type RankedSort = (typeof rankedSorts)[number]
export type StreamSort = PlacedSort | RankedSort

/** Where a page has ended in an order of places. */
export interface StreamPlace {
  readonly sort: PlacedSort
  /** Microseconds, or the name in lower case. */
  readonly value: number | string
  readonly id: string
}

/** How many streams the pages before had, in an order by figures. */
interface StreamRank {
  readonly sort: RankedSort
  readonly offset: number
}

export type StreamCursor = StreamPlace | StreamRank

export function isPlaced(sort: StreamSort): sort is PlacedSort {
  return placedSorts.some((one) => one === sort)
}

export function encodeStreamCursor(cursor: StreamCursor): string {
  if ('offset' in cursor) return encoded([cursor.sort, cursor.offset])
  const { sort, value, id } = cursor
  // The order of other lists has their cursors.
  if (sort === 'created') return encodeCursor({ createdAtUs: Number(value), id })
  return encoded([sort, value, id])
}

/** Undefined for a text that `encodeStreamCursor` has not made, or has made for another order. */
export function decodeStreamCursor(text: string, sort: StreamSort): StreamCursor | undefined {
  if (sort === 'created') {
    const place = decodeCursor(text)
    return place && { sort, value: place.createdAtUs, id: place.id }
  }
  const [given, value, id] = listIn(text)
  if (given !== sort) return undefined
  const cursor = isPlaced(sort) ? placeOf(sort, value, id) : rankOf(sort, value)
  // One spelling only: Buffer skips what is not base64.
  return cursor && encodeStreamCursor(cursor) === text ? cursor : undefined
}

function placeOf(sort: PlacedSort, value: unknown, id: unknown): StreamPlace | undefined {
  if (typeof id !== 'string') return undefined
  if (sort === '-created') return isCount(value) ? { sort, value, id } : undefined
  return typeof value === 'string' ? { sort, value, id } : undefined
}

function rankOf(sort: RankedSort, offset: unknown): StreamRank | undefined {
  return isCount(offset) && offset <= rankedMax ? { sort, offset } : undefined
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function encoded(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

function listIn(text: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(parsed) ? parsed : []
  } catch {
    return []
  }
}
