import type { AggregateQuery } from '../../aggregate-query.ts'

/** What the weights of rows are made of. */
export interface WeightedRows {
  /** SQL of rows with `$bucket`, `$bucketEnd`, `streamId`, `timestamp`, `$digest` and the columns. */
  readonly rows: string
  /** SQL of the same of all rows that may still have been in force when those began. */
  readonly before: string | undefined
  /** Adds `$series` and `$hold` to rows named r. */
  readonly join: string
  /** Quoted names. */
  readonly columns: readonly string[]
  readonly query: AggregateQuery
  /** Where the rows begin. */
  readonly fromUs: number
}

/**
 * SQL of the rows with two more times each, in microseconds: `$weight`, for how long it was in force
 * in its bucket, and `$carriedWeight`, for how long the one before it still was when its bucket, or the
 * range, had begun. For each column there is the value of that one, by the index of the column, which
 * is NULL where it does not count. A row of a stream without a hold has the weight 1.
 */
export function timeWeightsSql({
  rows,
  before,
  join,
  columns,
  query,
  fromUs,
}: WeightedRows): string {
  const untilUs = Math.min(query.endUs, query.timeWeights?.untilUs ?? query.endUs)
  // Only the newest one of each stream reaches into the rows.
  const all = before
    ? `${rows} UNION ALL SELECT unnest(arg_max(b, (b."timestamp", b."$digest")))
       FROM (${before}) b GROUP BY b."streamId"`
    : rows
  const prior = columns.map((column, index) => `, lag(${column}) OVER o AS "$prior${index}"`)
  const carried = columns.map(
    (_, index) =>
      `, CASE WHEN "$carriedWeight" > 0 THEN "$prior${index}" END AS ${carriedName(index)}`,
  )
  const neighbours = `SELECT r.*, "$series", "$hold", epoch_us("timestamp") AS "$at",
      greatest("$bucket", ${query.startUs}) AS "$from",
      lead(epoch_us("timestamp")) OVER o AS "$nextAt",
      lag(epoch_us("timestamp")) OVER o AS "$priorAt",
      lag("$series") OVER o AS "$priorSeries"${prior.join('')}
    FROM (${all}) r ${join}
    WINDOW o AS (PARTITION BY "streamId" ORDER BY "timestamp", "$digest")`
  const end = `least(coalesce("$nextAt", "$bucketEnd"), "$at" + "$hold", "$bucketEnd", ${untilUs})`
  const carriedEnd = `least("$at", "$priorAt" + "$hold", ${untilUs})`
  return `SELECT *,
      CASE WHEN "$hold" IS NULL THEN 1 ELSE greatest(0, ${end} - "$at") END AS "$weight",
      CASE WHEN "$hold" IS NULL OR "$priorAt" IS NULL OR "$priorAt" >= "$from"
        OR "$priorSeries" != "$series" THEN 0
        ELSE greatest(0, ${carriedEnd} - "$from") END AS "$carriedWeight"${carried.join('')}
    FROM (${neighbours}) WHERE "$at" >= ${fromUs}`
}

/** Names the value that was carried in, by the index of its column. */
export function carriedName(index: number): string {
  return `"$carried${index}"`
}
