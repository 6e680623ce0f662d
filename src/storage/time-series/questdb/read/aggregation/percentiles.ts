import type { AggregateFunction } from '../../../aggregate-query.ts'
import { needsTooMuchMemory } from '../memory-limits.ts'

/** Values of one bucket that are in memory at once, of 8 bytes each. */
const valuesMax = 4_000_000

const valuesAtFirst = 64

export type Percentile = Extract<AggregateFunction, 'p50' | 'p95' | 'p99'>

export function isPercentile(name: AggregateFunction): name is Percentile {
  return name === 'p50' || name === 'p95' || name === 'p99'
}

/** All values of a bucket, which exact percentiles need. */
export class BucketValues {
  readonly #values = new Map<number, GrowingArray>()
  #count = 0

  /** @throws DomainError `query_too_slow` when there are too many */
  add(key: number, value: number): void {
    this.#count++
    if (this.#count > valuesMax) throw needsTooMuchMemory()
    let values = this.#values.get(key)
    if (!values) {
      values = new GrowingArray()
      this.#values.set(key, values)
    }
    values.push(value)
  }

  /** The values by their keys, in ascending order, which are forgotten then. */
  take(): readonly (readonly [key: number, values: Float64Array])[] {
    const taken = [...this.#values].map(([key, values]) => [key, values.sorted()] as const)
    this.#values.clear()
    this.#count = 0
    return taken
  }
}

class GrowingArray {
  #items = new Float64Array(valuesAtFirst)
  #length = 0

  push(value: number): void {
    if (this.#length === this.#items.length) {
      const larger = new Float64Array(this.#length * 2)
      larger.set(this.#items)
      this.#items = larger
    }
    this.#items[this.#length++] = value
  }

  sorted(): Float64Array {
    return this.#items.subarray(0, this.#length).sort()
  }
}

/** The continuous percentile of some values in ascending order: at least one. */
export function percentileOf(sorted: Float64Array, percentile: Percentile): number {
  const place = (sorted.length - 1) * (Number(percentile.slice(1)) / 100)
  const below = sorted[Math.floor(place)] as number
  const above = sorted[Math.ceil(place)] as number
  const share = place - Math.floor(place)
  // Not below + share * difference: that of two large numbers may be none.
  return share === 0 ? below : below * (1 - share) + above * share
}
