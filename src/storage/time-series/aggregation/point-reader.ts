import type { AggregatedField, AggregatePoint, AggregateQuery } from '../aggregate-query.ts'
import type { KnownValue } from '../fill.ts'
import type { TimeOrder } from '../readings-query.ts'
import type { PageRoom } from './page-room.ts'

/** A stretch of time, in microseconds: half open. */
export interface Range {
  readonly fromUs: number
  readonly toUs: number
}

/** Where a page begins: behind the point of this series in this bucket, or before it in the descending order. */
export interface Position {
  readonly bucketUs: number
  /** The index of the series. */
  readonly series: number
}

/** Which points of a range come first. */
export interface PointsPlace {
  readonly after?: Position | undefined
  /** Ascending, unless something is said. */
  readonly order?: TimeOrder | undefined
}

/** By the index of the series, and that of the field. */
export type OutermostValues = ReadonlyMap<number, ReadonlyMap<number, KnownValue>>

/**
 * What a store answers of one query: points of a stretch of time. Pages, with their gaps filled, are made
 * of them in the same way for all stores.
 */
export interface PointReader {
  readonly query: AggregateQuery
  /** The fields with the types that their values have in the store. */
  readonly fields: readonly AggregatedField[]
  /** Where readings can be, by their starts and by their ends; they may overlap. */
  readonly stretches: readonly Range[]

  /**
   * The first points of a range in an order, of those after a position, for which there is room: it
   * is taken, and nothing is in memory that has none. No bucket is cut by the range, unless it is cut by that of the
   * query.
   */
  points(range: Range, room: PageRoom, place?: PointsPlace): Promise<AggregatePoint[]>

  /** The last, or first, value in a range, of each of the fields that are asked for by their indices. */
  outermost(
    range: Range,
    fields: readonly number[],
    end: 'last' | 'first',
  ): Promise<OutermostValues>
}
