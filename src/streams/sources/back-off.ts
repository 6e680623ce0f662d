/** Waits of a source that fails: the first, and the longest. */
const firstMs = 500
const longestMs = 60_000

/** Wait while somebody has to mend something first: it is not asked more often. */
const refusedMs = 30_000

/**
 * How long to wait before the next try, doubled with each failure in a row. A random part keeps the
 * sources of a broker that comes back from coming all at once.
 */
export function backOffMs(failures: number, isRefused: boolean): number {
  const growing = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 20))
  const waitMs = isRefused ? Math.max(refusedMs, growing) : growing
  return waitMs * (0.5 + Math.random() / 2)
}
