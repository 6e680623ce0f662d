import type { AggregateFunction } from '../../../aggregate-query.ts'
import { isText } from '../../../aggregation/united-fields.ts'
import type { ReadSession } from '../session.ts'
import type { PointTotals } from './read-totals.ts'
import type { Selection } from './selection.ts'
import { rowsAt, type SourceRow } from './source-rows.ts'

type Edge = Extract<AggregateFunction, 'first' | 'latest'>

interface Found {
  readonly digest: bigint
  readonly value: unknown
}

/**
 * The first and latest values of points. Their times are known from the totals; what is stored at these is
 * read, and of several readings at one time the digest decides.
 */
export class EdgeValues {
  readonly #selection: Selection
  /** By place; undefined until it is found. */
  readonly #found = new Map<string, Found | undefined>()

  private constructor(selection: Selection) {
    this.#selection = selection
  }

  static async read(
    session: ReadSession,
    selection: Selection,
    points: readonly PointTotals[],
  ): Promise<EdgeValues> {
    const values = new EdgeValues(selection)
    await values.#read(session, points, false)
    return values
  }

  /** How many bytes the texts of each point have. */
  static async measure(
    session: ReadSession,
    selection: Selection,
    points: readonly PointTotals[],
  ): Promise<readonly number[]> {
    const fields = selection.fields.filter(isText)
    const values = new EdgeValues({ ...selection, fields })
    await values.#read(session, points, true)
    const texts = fields.map(({ name, function: edge }) => ({
      column: selection.columns.findIndex((column) => column.name === name),
      edge: edge as Edge,
    }))
    return points.map((point) =>
      texts.reduce((sum, { column, edge }) => sum + Number(values.of(point, column, edge) ?? 0), 0),
    )
  }

  async #read(
    session: ReadSession,
    points: readonly PointTotals[],
    isMeasured: boolean,
  ): Promise<void> {
    const columns = this.#columns()
    const wanted = this.#want(points, columns)
    for (const source of columns.length > 0 ? this.#selection.sources : []) {
      const { split } = this.#selection
      const series = split ? wanted.keys() : source.streams.values().map((one) => one.series)
      const all = series.flatMap((one) => wanted.get(one) ?? [])
      const asked = { instants: new Set(all), columns, isMeasured, split }
      for (const row of await rowsAt(session, source, asked)) {
        for (const [at, column] of columns.entries()) this.#add(row, column, row.values[at])
      }
    }
  }

  of({ series, columns }: PointTotals, column: number, edge: Edge): unknown {
    const { firstUs = 0, lastUs = 0 } = columns[column] ?? {}
    const timestampUs = edge === 'first' ? firstUs : lastUs
    return this.#found.get(placeOf({ edge, column, series, timestampUs }))?.value
  }

  /** The columns that have such values, by their indices. */
  #columns(): number[] {
    const { fields, columns } = this.#selection
    const names = new Set(
      fields.filter((field) => isEdge(field.function)).map((field) => field.name),
    )
    return columns.flatMap(({ name }, index) => (names.has(name) ? [index] : []))
  }

  /** Notes what is to be found, and tells by series at which instants. */
  #want(
    points: readonly PointTotals[],
    columns: readonly number[],
  ): ReadonlyMap<number, ReadonlySet<number>> {
    const instants = new Map<number, Set<number>>()
    for (const point of points) {
      const own = instants.get(point.series) ?? new Set()
      instants.set(point.series, own)
      for (const column of columns) {
        const { firstUs = 0, lastUs = 0 } = point.columns[column] ?? {}
        for (const [edge, timestampUs] of [
          ['first', firstUs] as const,
          ['latest', lastUs] as const,
        ]) {
          if (!Number.isFinite(timestampUs)) continue
          own.add(timestampUs)
          this.#found.set(placeOf({ edge, column, series: point.series, timestampUs }), undefined)
        }
      }
    }
    return instants
  }

  #add({ series, timestampUs, digest }: SourceRow, column: number, value: unknown): void {
    if (value === undefined) return
    for (const edge of ['first', 'latest'] as const) {
      const place = placeOf({ edge, column, series, timestampUs })
      if (!this.#found.has(place)) continue
      const other = this.#found.get(place)
      const isFurther = !other || (edge === 'first' ? digest < other.digest : digest > other.digest)
      if (isFurther) this.#found.set(place, { digest, value })
    }
  }
}

function isEdge(name: AggregateFunction): name is Edge {
  return name === 'first' || name === 'latest'
}

interface Place {
  readonly edge: Edge
  readonly column: number
  readonly series: number
  readonly timestampUs: number
}

function placeOf({ edge, column, series, timestampUs }: Place): string {
  return `${edge} ${column} ${series} ${timestampUs}`
}
