import type { AggregatedField } from '../../aggregate-query.ts'

/** The order of the readings of a stream: of those of one time, the digest decides. */
const order = '("timestamp", "$digest")'

/**
 * How doubles are added up. `plain`: the sum of finite numbers may go beyond what a double can hold on the way, and
 * the result is not finite then. `scaled` has a result also there, and takes half as long again to plan and compute.
 */
export type Summation = 'plain' | 'scaled'

/** SQL of a function over the values of a column; those that are NULL do not count for it. */
export function aggregateSql(
  { function: name, type }: AggregatedField,
  column: string,
  summation: Summation,
): string {
  switch (name) {
    case 'avg':
      return summation === 'plain' ? `favg(${column})` : scaledWhereTooLarge('favg', column)
    case 'sum':
      // Whole numbers are summed up exactly, and rounded once.
      if (type === 'bigint') return `sum(${column})::DOUBLE`
      return summation === 'plain' ? `fsum(${column})` : finite(scaledWhereTooLarge('fsum', column))
    case 'min':
    case 'max':
    case 'count':
      return `${name}(${column})`
    case 'first':
      return `arg_min(${column}, ${order})`
    case 'latest':
      return `arg_max(${column}, ${order})`
    case 'stddev':
      return standardDeviation(`${column}::DOUBLE`)
    case 'p50':
    case 'p95':
    case 'p99':
      return `quantile_cont(${column}::DOUBLE, ${Number(name.slice(1)) / 100})`
    default:
      return name satisfies never
  }
}

/**
 * Kahan summation. Where the sum of finite numbers is not finite on the way, all are scaled down by a
 * power of two first, which is exact.
 */
function scaledWhereTooLarge(name: 'favg' | 'fsum', column: string): string {
  return `CASE WHEN isfinite(${name}(${column})) THEN ${name}(${column})
    ELSE ${name}(${column} * pow(2::DOUBLE, -40)) * pow(2::DOUBLE, 40) END`
}

/** Values whose squares can be added up. The function fails where they cannot. */
const squareableMax = '1e145'

function standardDeviation(column: string): string {
  const isSquareable = `abs(${column}) < ${squareableMax}`
  return finite(`CASE WHEN max(abs(${column})) < ${squareableMax}
    THEN stddev_samp(CASE WHEN ${isSquareable} THEN ${column} END)
    ELSE stddev_samp(${column} * pow(2::DOUBLE, -600)) * pow(2::DOUBLE, 600) END`)
}

/** Factors of values whose products with any weight can be added up, in a bucket of any size. */
const downscale = 'pow(2::DOUBLE, -100)'
const upscale = 'pow(2::DOUBLE, 100)'

/** A column of rows with the time that its values were in force, and what was carried in to them. */
export interface WeightedColumn {
  readonly column: string
  readonly weight: string
  /** NULL where nothing was carried in. */
  readonly carried: string
  readonly carriedWeight: string
}

/**
 * The average by time, by Kahan summation, of what has some reading in the bucket; that of the readings
 * where no time has passed. It is never outside of its values, so what was constant is exact.
 */
export function weightedAverageSql({
  column,
  weight,
  carried,
  carriedWeight,
}: WeightedColumn): string {
  const product = (scale: string) =>
    `fsum(coalesce(${column} * ${scale} * ${weight}, 0) + coalesce(${carried} * ${scale} * ${carriedWeight}, 0))`
  const time = `sum(CASE WHEN ${column} IS NULL THEN 0 ELSE ${weight} END
    + CASE WHEN ${carried} IS NULL THEN 0 ELSE ${carriedWeight} END)::DOUBLE`
  const average = `CASE WHEN isfinite(${product('1::DOUBLE')}) THEN ${product('1::DOUBLE')} / ${time}
    ELSE ${product(downscale)} / ${time} * ${upscale} END`
  const least = `least(min(${column}), min(${carried}))`
  const greatest = `greatest(max(${column}), max(${carried}))`
  return `CASE WHEN count(${column}) > 0 AND ${time} > 0
    THEN greatest(${least}, least(${greatest}, ${average}))::DOUBLE
    ELSE ${scaledWhereTooLarge('favg', column)} END`
}

/** What no double can hold is no value. */
function finite(expression: string): string {
  return `CASE WHEN isfinite(${expression}) THEN ${expression} END`
}
