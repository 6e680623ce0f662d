/** Points further apart than this many usual distances have a gap between them. */
export const gapFactor = 3

/** Distances that are looked at for what is usual. */
const samplesMax = 201

/** The median distance of neighbours; undefined where there are none. Points of one time count for nothing. */
export function usualDistance(times: ArrayLike<number>): number | undefined {
  const step = Math.max(1, Math.floor((times.length - 1) / samplesMax))
  const distances: number[] = []
  for (let at = 1; at < times.length; at += step) {
    const distance = (times[at] ?? 0) - (times[at - 1] ?? 0)
    if (distance > 0) distances.push(distance)
  }
  distances.sort((one, other) => one - other)
  return distances[Math.floor(distances.length / 2)]
}

/** Indices of points before which there is a gap: nothing is known of the time between, so no line is drawn. */
export function gapsIn(times: ArrayLike<number>, distanceMax: number): number[] {
  const places: number[] = []
  for (let at = 1; at < times.length; at += 1) {
    if ((times[at] ?? 0) - (times[at - 1] ?? 0) > distanceMax) places.push(at)
  }
  return places
}

/** Indices of points with a gap, or nothing, on both sides: no line leads there, so they are drawn as dots. */
export function lonePoints(count: number, gaps: readonly number[]): number[] {
  const begins = [0, ...gaps]
  return begins.filter((begin, nth) => begin < count && (begins[nth + 1] ?? count) === begin + 1)
}
