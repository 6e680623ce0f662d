import type { TimeOrder } from './readings-query.ts'
import type { ColumnType } from './shape.ts'
import type { SplitField } from './split-series.ts'

/**
 * Functions that make one value of those that a field has in a bucket
 * (decisions.md#buckets-and-functions). A reading without the field does not count for it.
 *
 * - `avg` counts each reading once, or goes by time: see {@link TimeWeights}.
 * - `first` and `latest` go by the time of the readings; of those of one time, by their digest.
 * - `stddev` is that of a sample (n - 1), and nothing for a single value.
 * - `p50`, `p95`, `p99` are continuous percentiles: between two values they interpolate linearly.
 */
export const aggregateFunctions = [
  'avg',
  'min',
  'max',
  'sum',
  'count',
  'first',
  'latest',
  'stddev',
  'p50',
  'p95',
  'p99',
] as const

export type AggregateFunction = (typeof aggregateFunctions)[number]

/** A field as it is asked for. */
export interface AggregatedField {
  /** Its key in the points, for example `temperature:max`; unique in a query. */
  readonly key: string
  readonly name: string
  /**
   * The type that it has today. A stream's definition may change: numbers of either kind are
   * brought together as doubles, and what was stored as anything else counts as not there.
   */
  readonly type: ColumnType
  readonly function: AggregateFunction
}

/**
 * How time is cut. Buckets follow each other without a gap, and each begins at or after 1970 in its
 * zone.
 *
 * - `fixed`: of one width, counted from the epoch in UTC.
 * - `calendar`: by the clocks of a zone, changes of the clock included: a day has 23, 24 or 25 hours.
 *   A bucket begins when those clocks first show its beginning, or jump past it. Weeks begin on
 *   Monday; several days or weeks are counted from the first day or Monday of 1970.
 */
export type Buckets =
  | { readonly kind: 'fixed'; readonly widthUs: number }
  | {
      readonly kind: 'calendar'
      readonly unit: 'hour' | 'day' | 'week' | 'month'
      /** How many units make a bucket; more than one for days only. */
      readonly units: number
      /** A name of the IANA time zone database. */
      readonly zone: string
    }

/**
 * What stands where a bucket, or a field of it, has nothing. Buckets before the first value, and for
 * `linear` those after the last one, stay null; only [startUs, endUs) is looked at. What is not
 * interpolated (anything but the values of numbers) is filled by `linear` as by `previous`. Counts
 * are 0, never filled.
 */
export type Fill = 'none' | 'null' | 'previous' | 'linear'

/** Streams whose readings make one series of points. */
export interface SeriesSelection {
  readonly key: string
  readonly streamIds: readonly string[]
}

/**
 * Streams that drop what is unchanged are averaged by time
 * (decisions.md#readings-that-are-unchanged): a reading counts for as long as it was the newest one
 * of its stream. That is until the next reading of the stream, and for its hold at most: a longer
 * silence says nothing. Only the time within its bucket, and within [startUs, endUs), counts for a
 * point, but what was in force when they began counts, too, where the stream has a reading of its
 * own in the bucket; where a field splits the query, one with the same value first of all. A reading without the field ends what came before it. Where no time has passed
 * at all, each reading counts once.
 */
export interface TimeWeights {
  /** By stream; each reading of a stream that is not here has a weight of one. */
  readonly holdsUs: ReadonlyMap<string, number>
  /** The present: nothing counts for the time behind it. */
  readonly untilUs: number
}

/** A page of aggregated points, in the order of time, and at one time by the key of their series. */
export interface AggregateQuery {
  /** By key, ascending in code units. A stream stands in one of them at most. */
  readonly series: readonly SeriesSelection[]
  /**
   * Makes a series of each value that this field has in [startUs, endUs), by the key of `splitKeyOf`; of the readings
   * without it, too. Then `series` is one selection, whose key says nothing. What was stored as another type counts
   * as not there.
   */
  readonly splitBy?: SplitField | undefined
  /** [startUs, endUs): half open. Only readings within count, also in the buckets that it cuts. */
  readonly startUs: number
  readonly endUs: number
  /** Ascending, unless something is said; descending it is that of the keys, too. */
  readonly order?: TimeOrder | undefined
  readonly buckets: Buckets
  readonly fields: readonly AggregatedField[]
  /** What averages go by, where it is not the number of readings. */
  readonly timeWeights?: TimeWeights | undefined
  /** Anything but `none` gives a point for every series and every bucket that touches the range. */
  readonly fill: Fill
  readonly limit: number
  /**
   * About how many bytes a page may have in memory, filled buckets included; where nothing is said, 4 MiB. It ends
   * there, or at its limit of points, and has at least one point.
   */
  readonly bytesMax?: number | undefined
  readonly after: AggregateCursor | undefined
}

/** The last point of a page. */
export interface AggregateCursor {
  /** An instant in its bucket. */
  readonly timestampUs: number
  readonly series: string
}

export interface AggregatePoint {
  /** The start of the bucket; may lie before the start of the query. */
  readonly timestampUs: number
  readonly series: string
  /** Readings in the bucket. */
  readonly count: number
  /** By key. What has no value is left out, unless the query fills: then it is null. */
  readonly values: Readonly<Record<string, unknown>>
}

export interface AggregatePage {
  readonly points: readonly AggregatePoint[]
  readonly next: AggregateCursor | undefined
}
