import type { AggregateQuery } from '../../../aggregate-query.ts'
import type { Range } from '../../../aggregation/point-reader.ts'
import type { SourceRow } from './source-rows.ts'

/** Factor of values whose products with any weight can be added up, in a bucket of any size. */
const downscale = 2 ** -100

/** A number for a series and one of the values of its rows, by their indices. */
export type KeyOf = (series: number, value: number) => number

/** The newest reading of a stream so far. */
interface Newest {
  readonly row: SourceRow
  /** The start of its bucket; undefined for what was before the range. */
  readonly bucketUs: number | undefined
}

export interface AveragesByTimeNeeds {
  readonly query: AggregateQuery
  readonly before: Iterable<SourceRow>
  readonly keyOf: KeyOf
}

/**
 * Averages of readings that come in the order of time, by the time for which each was in force (see
 * `TimeWeights`).
 */
export class AveragesByTime {
  readonly #needs: AveragesByTimeNeeds
  /** Where weights end at the latest. */
  readonly #untilUs: number
  readonly #newest = new Map<string, Newest>()
  /** Streams with a reading in the bucket that is being read. */
  readonly #inBucket = new Set<string>()
  readonly #sums = new Map<number, WeightedSum>()

  /** @param before the newest readings from before the range that may still be in force in it */
  constructor(needs: AveragesByTimeNeeds) {
    this.#needs = needs
    const { query, before } = needs
    this.#untilUs = Math.min(query.endUs, query.timeWeights?.untilUs ?? query.endUs)
    for (const row of before) {
      this.#newest.set(streamKey(row), { row, bucketUs: undefined })
    }
  }

  add(row: SourceRow, bucket: Range): void {
    const { holdUs } = row.stream
    const key = streamKey(row)
    if (holdUs === undefined) {
      this.#count(row, 1)
      return
    }
    const prior = this.#newest.get(key)
    if (prior?.bucketUs === bucket.fromUs) {
      this.#count(prior.row, this.#weight(prior.row, Math.min(row.timestampUs, bucket.toUs)))
    } else if (prior?.row.series === row.series) {
      const fromUs = Math.max(bucket.fromUs, this.#needs.query.startUs)
      this.#carry(prior.row, this.#endOf(prior.row, row.timestampUs) - fromUs)
    }
    this.#newest.set(key, { row, bucketUs: bucket.fromUs })
    this.#inBucket.add(key)
  }

  /** The averages, by their keys, of a bucket whose readings have all been added. */
  take(bucket: Range): ReadonlyMap<number, number> {
    for (const key of this.#inBucket) {
      const { row } = this.#newest.get(key) as Newest
      this.#count(row, this.#weight(row, bucket.toUs))
    }
    const averages = new Map<number, number>()
    for (const [key, sum] of this.#sums) {
      const average = sum.average()
      if (average !== undefined) averages.set(key, average)
    }
    this.#inBucket.clear()
    this.#sums.clear()
    return averages
  }

  #weight(row: SourceRow, endUs: number): number {
    return Math.max(0, this.#endOf(row, endUs) - row.timestampUs)
  }

  #endOf({ stream, timestampUs }: SourceRow, endUs: number): number {
    return Math.min(endUs, timestampUs + (stream.holdUs ?? 0), this.#untilUs)
  }

  #count(row: SourceRow, weight: number): void {
    for (const [sum, value] of this.#sumsOf(row)) {
      sum.count++
      sum.add(value, weight)
    }
  }

  #carry(row: SourceRow, weight: number): void {
    if (weight <= 0) return
    for (const [sum, value] of this.#sumsOf(row)) sum.add(value, weight)
  }

  *#sumsOf({ series, values }: SourceRow): Generator<readonly [WeightedSum, number]> {
    for (const [index, value] of values.entries()) {
      if (typeof value !== 'number') continue
      const key = this.#needs.keyOf(series, index)
      let sum = this.#sums.get(key)
      if (!sum) {
        sum = new WeightedSum()
        this.#sums.set(key, sum)
      }
      yield [sum, value]
    }
  }
}

/** A stream may be in several series. */
function streamKey({ stream }: SourceRow): string {
  return `${stream.series} ${stream.streamId}`
}

class WeightedSum {
  /** Readings of the bucket itself. */
  count = 0
  #timeUs = 0
  #least = Number.POSITIVE_INFINITY
  #greatest = Number.NEGATIVE_INFINITY
  readonly #sum = new KahanSum()
  readonly #scaledDown = new KahanSum()

  add(value: number, weight: number): void {
    this.#timeUs += weight
    this.#least = Math.min(this.#least, value)
    this.#greatest = Math.max(this.#greatest, value)
    this.#sum.add(value * weight)
    this.#scaledDown.add(value * downscale * weight)
  }

  /** Never outside of its values, so that what was constant is exact; undefined where no time has passed. */
  average(): number | undefined {
    if (this.count === 0 || this.#timeUs === 0) return undefined
    const average = Number.isFinite(this.#sum.value)
      ? this.#sum.value / this.#timeUs
      : (this.#scaledDown.value / this.#timeUs) * (1 / downscale)
    return Math.max(this.#least, Math.min(this.#greatest, average))
  }
}

/** Kahan summation. */
class KahanSum {
  value = 0
  #lost = 0

  add(value: number): void {
    const corrected = value - this.#lost
    const next = this.value + corrected
    this.#lost = next - this.value - corrected
    this.value = next
  }
}
