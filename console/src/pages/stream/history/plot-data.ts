import type { PlotData } from '../../../charts/field-plot.ts'
import { gapFactor, usualDistance } from '../../../charts/gaps.ts'
import type { DataPoint, History } from './load-history.ts'

/** Readings in a bucket from which on an empty bucket is a gap. */
const denseCount = 10

/** The points of one field, as its chart draws them. */
export function plotDataOf(
  { points, bucket }: Pick<History, 'points' | 'bucket'>,
  field: string,
): PlotData {
  const known = points.filter((point) => typeof point[field] === 'number')
  const times = known.map(({ timestamp }) => Date.parse(timestamp))
  const middle = known.map((point) => numberIn(point, field))
  const usual = usualDistance(times) ?? Number.POSITIVE_INFINITY
  if (bucket === undefined) return { times, middle, gapMs: gapFactor * usual }
  const counts = known.reduce((sum, { count = 0 }) => sum + count, 0)
  const isDense = counts >= denseCount * known.length
  return {
    times,
    middle,
    least: known.map((point) => numberIn(point, `${field}:min`, field)),
    greatest: known.map((point) => numberIn(point, `${field}:max`, field)),
    // Days and months are not all of one length, so half of one more is none.
    gapMs: isDense ? 1.5 * bucket.ms : Math.max(1.5 * bucket.ms, gapFactor * usual),
  }
}

function numberIn(point: DataPoint, key: string, otherwise = key): number {
  const value = point[key] ?? point[otherwise]
  return typeof value === 'number' ? value : 0
}
