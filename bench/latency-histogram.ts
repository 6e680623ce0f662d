/** Values below this many microseconds have a bucket of their own. */
const EXACT_BELOW = 128
/** Each doubling above is split into this many buckets, so a bucket is at most 1.6 % wide. */
const BUCKETS_PER_DOUBLING = 64
/** 2^31 microseconds is about 36 minutes: longer than any run, and still fits a 32-bit shift. */
const LARGEST_US = 2 ** 31 - 1
const DOUBLINGS = 31 - 7

/** A distribution of durations, all in whole microseconds. */
export type LatencySummary = { p50: number; p90: number; p99: number; max: number; mean: number }

/** Counts durations in log-sized buckets: about 13 KB, however many durations are recorded. */
export class LatencyHistogram {
  readonly #buckets = new Float64Array(EXACT_BELOW + DOUBLINGS * BUCKETS_PER_DOUBLING)
  #count = 0
  #sum = 0
  #max = 0

  /** Adds one duration in microseconds; a negative one (a clock's rounding) counts as 0. */
  record(microseconds: number): void {
    const value = Math.min(Math.max(Math.round(microseconds), 0), LARGEST_US)
    const bucket = bucketOf(value)
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1
    this.#count += 1
    this.#sum += value
    if (value > this.#max) this.#max = value
  }

  get count(): number {
    return this.#count
  }

  /** The largest duration in microseconds, exact; 0 when nothing was recorded. */
  get max(): number {
    return this.#max
  }

  /** The mean in microseconds, exact; 0 when nothing was recorded. */
  get mean(): number {
    return this.#count === 0 ? 0 : this.#sum / this.#count
  }

  /**
   * The duration in microseconds that `percent` (0 to 100) of the recorded ones do not exceed. It
   * is the upper edge of its bucket, so it may overstate by 1.6 % and never understates.
   */
  percentile(percent: number): number {
    const rank = Math.max(1, Math.ceil((this.#count * percent) / 100))
    let seen = 0
    for (const [bucket, count] of this.#buckets.entries()) {
      seen += count
      if (seen >= rank) return Math.min(upperEdgeOf(bucket), this.#max)
    }
    return this.#max
  }

  /** The figures a load result reports, in microseconds. */
  summary(): LatencySummary {
    const [p50, p90, p99] = [this.percentile(50), this.percentile(90), this.percentile(99)]
    return { p50, p90, p99, max: this.#max, mean: Math.round(this.mean) }
  }
}

function bucketOf(value: number): number {
  if (value < EXACT_BELOW) return value
  const doubling = 31 - Math.clz32(value) - 7
  const within = (value >>> (doubling + 1)) - BUCKETS_PER_DOUBLING
  return EXACT_BELOW + doubling * BUCKETS_PER_DOUBLING + within
}

function upperEdgeOf(bucket: number): number {
  if (bucket < EXACT_BELOW) return bucket
  const doubling = Math.floor((bucket - EXACT_BELOW) / BUCKETS_PER_DOUBLING)
  const within = (bucket - EXACT_BELOW) % BUCKETS_PER_DOUBLING
  return (within + BUCKETS_PER_DOUBLING + 1) * 2 ** (doubling + 1) - 1
}
