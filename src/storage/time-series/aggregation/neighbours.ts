import type { AggregatedField, AggregatePoint } from '../aggregate-query.ts'
import { isFilled, type KnownValue, type Neighbours } from '../fill.ts'
import { chunksAfter, chunksBefore } from './chunks.ts'
import type { OutermostValues, PointReader, Range } from './point-reader.ts'
import { resultType } from './united-fields.ts'

/** Looks before and after a page, as far as its first and last gaps need it. A series without points needs nothing. */
export async function findNeighbours(
  reader: PointReader,
  grid: readonly (readonly AggregatePoint[])[],
  page: Range,
): Promise<Neighbours> {
  const { startUs, endUs, fill } = reader.query
  const before = new MissingValues({ reader, grid, place: 0 })
  const after = new MissingValues({ reader, grid, place: -1 })
  const points = grid.length
  for (const chunk of chunksBefore(reader, { fromUs: startUs, toUs: page.fromUs }, points)) {
    if (before.isComplete) break
    before.add(await reader.outermost(chunk, before.fields, 'last'))
  }
  for (const chunk of chunksAfter(reader, { fromUs: page.toUs, toUs: endUs }, points)) {
    if (after.isComplete || fill !== 'linear') break
    after.add(await reader.outermost(chunk, after.fields, 'first'))
  }
  return {
    before: (series, key) => before.found(series, key),
    after: (series, key) => after.found(series, key),
  }
}

interface MissingValuesNeeds {
  readonly reader: PointReader
  readonly grid: readonly (readonly AggregatePoint[])[]
  readonly place: 0 | -1
}

/** Values that the first (0) or last (-1) points of a grid lack, as far as they were found. */
class MissingValues {
  readonly #needs: MissingValuesNeeds
  /** By the index of the field: the indices of series that lack it. */
  readonly #missing = new Map<number, Set<number>>()
  readonly #found = new Map<string, KnownValue>()

  constructor(needs: MissingValuesNeeds) {
    this.#needs = needs
    const { reader, place, grid } = needs
    const { fields, query } = reader
    for (const [index, field] of fields.entries()) {
      if (!isFilled(field, query.fill)) continue
      // What is not interpolated is filled by what comes before it.
      if (place === -1 && !isNumeric(field)) continue
      const lacking = grid.flatMap((points, series) =>
        points.length > 0 && points.at(place)?.values[field.key] === undefined ? [series] : [],
      )
      if (lacking.length > 0) this.#missing.set(index, new Set(lacking))
    }
  }

  get isComplete(): boolean {
    return this.#missing.size === 0
  }

  /** The fields that some series still lacks, by index. */
  get fields(): readonly number[] {
    return [...this.#missing.keys()]
  }

  add(values: OutermostValues): void {
    const { fields, query } = this.#needs.reader
    for (const [series, byField] of values) {
      for (const [index, value] of byField) {
        if (!this.#missing.get(index)?.delete(series)) continue
        const key = fields[index]?.key ?? ''
        this.#found.set(nameOf(query.series[series]?.key ?? '', key), value)
        if (this.#missing.get(index)?.size === 0) this.#missing.delete(index)
      }
    }
  }

  found(series: string, key: string): KnownValue | undefined {
    return this.#found.get(nameOf(series, key))
  }
}

function isNumeric(field: AggregatedField): boolean {
  const type = resultType(field)
  return type === 'double' || type === 'bigint'
}

function nameOf(series: string, key: string): string {
  return JSON.stringify([series, key])
}
