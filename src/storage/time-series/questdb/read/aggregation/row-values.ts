import type { AggregateFunction } from '../../../aggregate-query.ts'
import type { Range } from '../../../aggregation/point-reader.ts'
import { type BucketRun, bucketRuns, nextBucketUs } from '../../../bucket-runs.ts'
import { inOrder } from '../../../raw-page.ts'
import type { ReadSession } from '../session.ts'
import { microseconds, ofStreams, within } from '../statement.ts'
import { BucketValues, isPercentile, type Percentile, percentileOf } from './percentiles.ts'
import type { PointTotals } from './read-totals.ts'
import type { Selection, Source } from './selection.ts'
import { rowsAt, rowsInOrder, rowsTogether, type SourceRow } from './source-rows.ts'
import { AveragesByTime } from './time-weights.ts'

/**
 * What QuestDB cannot compute exactly, and so is made of the readings themselves: percentiles, and
 * averages by time. It costs about two microseconds for each reading in the buckets of the points.
 */
export class RowValues {
  readonly #selection: Selection
  readonly #values = new Map<string, number>()
  /** The columns that are read, by their indices in the selection. */
  readonly #columns: readonly number[]
  readonly #percentiles: readonly (readonly Percentile[])[]
  readonly #inBucket = new BucketValues()

  private constructor(selection: Selection) {
    const { fields, columns, holdUsMax } = selection
    const functions = columns.map(({ name }) =>
      fields.filter((field) => field.name === name).map((field) => field.function),
    )
    this.#selection = selection
    this.#columns = functions.flatMap((names, index) => {
      const isByTime = holdUsMax > 0 && names.includes('avg')
      return isByTime || names.some(isPercentile) ? [index] : []
    })
    this.#percentiles = this.#columns.map((index) => functions[index]?.filter(isPercentile) ?? [])
  }

  /** @throws DomainError `query_too_slow` when a bucket has too many values */
  static async read(
    session: ReadSession,
    selection: Selection,
    points: readonly PointTotals[],
  ): Promise<RowValues> {
    const values = new RowValues(selection)
    if (values.#columns.length > 0 && points.length > 0) await values.#readRange(session, points)
    return values
  }

  of(point: PointTotals, column: number, name: AggregateFunction): number | undefined {
    const { bucketUs, series } = point
    return this.#values.get(
      placeOf(bucketUs, this.#keyOf(series, this.#columns.indexOf(column)), name),
    )
  }

  async #readRange(session: ReadSession, points: readonly PointTotals[]): Promise<void> {
    const { query, sources, holdUsMax, split } = this.#selection
    const starts = points.map(({ bucketUs }) => bucketUs)
    const [firstUs, lastUs] = [min(starts), max(starts)]
    const range = {
      fromUs: Math.max(query.startUs, firstUs),
      toUs: Math.min(query.endUs, nextBucketUs(query.buckets, lastUs)),
    }
    const averages =
      holdUsMax > 0
        ? new AveragesByTime({
            query,
            before: await this.#newestBefore(session, range.fromUs),
            keyOf: this.#keyOf,
          })
        : undefined
    const walk = new BucketWalk(bucketRuns(query.buckets, range.fromUs, range.toUs))
    const wanted = { columns: this.#columns, isIdentified: holdUsMax > 0, split }
    const rows = points.reduce((sum, { count }) => sum + count, 0)
    for (const slice of slicesOf(range, rows)) {
      for await (const page of rowsInOrder(session, sources, { ...wanted, range: slice })) {
        for (const row of page) {
          if (row.timestampUs >= walk.bucket.toUs) {
            this.#finish(walk.bucket, averages)
            walk.moveTo(row.timestampUs)
          }
          averages?.add(row, walk.bucket)
          this.#addValues(row)
        }
      }
    }
    this.#finish(walk.bucket, averages)
  }

  #addValues({ series, values }: SourceRow): void {
    for (const [index, value] of values.entries()) {
      const isWanted = typeof value === 'number' && this.#percentiles[index]?.length !== 0
      if (isWanted) this.#inBucket.add(this.#keyOf(series, index), value)
    }
  }

  #finish(bucket: Range, averages: AveragesByTime | undefined): void {
    for (const [key, sorted] of this.#inBucket.take()) {
      for (const name of this.#percentiles[key % this.#columns.length] ?? []) {
        this.#values.set(placeOf(bucket.fromUs, key, name), percentileOf(sorted, name))
      }
    }
    for (const [key, average] of averages?.take(bucket) ?? []) {
      this.#values.set(placeOf(bucket.fromUs, key, 'avg'), average)
    }
  }

  readonly #keyOf = (series: number, index: number): number => series * this.#columns.length + index

  /**
   * Finds the newest reading from before the range, within a hold, for each stream that is averaged
   * by time.
   */
  async #newestBefore(session: ReadSession, rangeUs: number): Promise<Iterable<SourceRow>> {
    const { sources, holdUsMax, split } = this.#selection
    const range = { fromUs: Math.max(0, rangeUs - holdUsMax), toUs: rangeUs }
    const columns = this.#columns
    const newest = new Map<string, SourceRow>()
    for (const source of sources) {
      const instants = await newestTimes(session, source, range)
      for (const row of await rowsAt(session, source, { instants, columns, split })) {
        const key = `${row.stream.series} ${row.stream.streamId}`
        const other = newest.get(key)
        if (row.stream.holdUs !== undefined && !(other && inOrder(other, row) > 0))
          newest.set(key, row)
      }
    }
    return newest.values()
  }
}

/**
 * Cuts a range so that a slice has about as many rows as are read at a time: QuestDB looks at more of a
 * table than a limit on rows needs, but not at more than a range of time.
 */
function* slicesOf({ fromUs, toUs }: Range, rows: number): Generator<Range> {
  const widthUs = Math.max(1, Math.ceil(((toUs - fromUs) * rowsTogether) / Math.max(1, rows)))
  for (let atUs = fromUs; atUs < toUs; atUs += widthUs) {
    yield { fromUs: atUs, toUs: Math.min(toUs, atUs + widthUs) }
  }
}

/** When the streams of a source had their newest readings of a range. */
async function newestTimes(
  session: ReadSession,
  { shape, streams }: Source,
  range: Range,
): Promise<ReadonlySet<number>> {
  const rows = await session.rows(
    `SELECT "streamId", max(${microseconds('"timestamp"')}) FROM ${session.tableOf(shape).name}
     WHERE ${ofStreams([...streams.keys()])} AND ${within(range)} AND ${session.visible}
     GROUP BY "streamId"`,
  )
  return new Set(rows.map(([, time]) => Number(time)))
}

/** The bucket of an instant, of instants that rise. */
class BucketWalk {
  readonly #runs: readonly BucketRun[]
  #run = 0
  bucket: Range

  constructor(runs: readonly BucketRun[]) {
    const { startUs = 0, widthUs = 0 } = runs[0] ?? {}
    this.#runs = runs
    this.bucket = { fromUs: startUs, toUs: startUs + widthUs }
  }

  moveTo(instantUs: number): void {
    while (this.#run < this.#runs.length - 1 && instantUs >= this.#at.endUs) this.#run++
    const { startUs, widthUs } = this.#at
    const fromUs = startUs + Math.floor((instantUs - startUs) / widthUs) * widthUs
    this.bucket = { fromUs, toUs: fromUs + widthUs }
  }

  get #at(): BucketRun {
    return this.#runs[this.#run] as BucketRun
  }
}

function placeOf(bucketUs: number, key: number, name: AggregateFunction): string {
  return `${bucketUs} ${key} ${name}`
}

function min(numbers: readonly number[]): number {
  return numbers.reduce((least, number) => Math.min(least, number), Number.POSITIVE_INFINITY)
}

function max(numbers: readonly number[]): number {
  return numbers.reduce((greatest, number) => Math.max(greatest, number), Number.NEGATIVE_INFINITY)
}
