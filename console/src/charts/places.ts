/** The index of the time that is nearest; -1 where there is none. Times are ascending. */
export function nearestPlace(times: ArrayLike<number>, atMs: number): number {
  const next = firstFrom(times, atMs)
  if (next === 0) return times.length === 0 ? -1 : 0
  if (next === times.length) return next - 1
  const [before = 0, after = 0] = [times[next - 1], times[next]]
  return atMs - before <= after - atMs ? next - 1 : next
}

/** The index of the first time that is not before `atMs`; the length where all are. */
export function firstFrom(times: ArrayLike<number>, atMs: number): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? 0) < atMs) low = middle + 1
    else high = middle
  }
  return low
}

/** The time so many points further on; the nearest end where there are not as many. */
export function stepped(
  times: ArrayLike<number>,
  fromMs: number,
  points: number,
): number | undefined {
  const place = nearestPlace(times, fromMs)
  if (place < 0) return undefined
  return times[Math.max(0, Math.min(times.length - 1, place + points))]
}
