import type { AggregatedField } from '../../../aggregate-query.ts'
import { resultType } from '../../../aggregation/united-fields.ts'
import { toJson } from '../../../point-values.ts'
import type { EdgeValues } from './edges.ts'
import { isPercentile } from './percentiles.ts'
import type { PointTotals } from './read-totals.ts'
import type { RowValues } from './row-values.ts'
import type { Selection } from './selection.ts'
import { type ColumnTotals, scaledDown } from './totals.ts'

interface PointParts {
  readonly edges: EdgeValues
  readonly rows: RowValues
  /** Totals, scaled down, of at least those points that have some which are not finite. */
  readonly scaled: readonly PointTotals[]
}

/** Puts the values of points together. */
export class PointValues {
  readonly #selection: Selection
  readonly #parts: PointParts
  readonly #scaled: ReadonlyMap<string, PointTotals>
  /** The column of each field. */
  readonly #columns: readonly number[]

  constructor(selection: Selection, parts: PointParts) {
    const { fields, columns } = selection
    this.#selection = selection
    this.#parts = parts
    this.#scaled = new Map(parts.scaled.map((point) => [placeOf(point), point]))
    this.#columns = fields.map((field) => columns.findIndex(({ name }) => name === field.name))
  }

  /** By the keys of the fields; what has no value is left out. */
  of(point: PointTotals): Readonly<Record<string, unknown>> {
    const values: Record<string, unknown> = {}
    for (const [index, field] of this.#selection.fields.entries()) {
      const value = this.#valueOf(point, field, this.#columns[index] as number)
      if (value !== undefined) values[field.key] = value
    }
    return values
  }

  #valueOf(point: PointTotals, field: AggregatedField, column: number): unknown {
    const { edges, rows } = this.#parts
    const { function: name } = field
    const totals = point.columns[column] as ColumnTotals
    if (name === 'count') return totals.count
    if (totals.count === 0) return undefined
    if (name === 'first' || name === 'latest') return edges.of(point, column, name)
    if (isPercentile(name)) return rows.of(point, column, name)
    const scaled = this.#scaled.get(placeOf(point))?.columns[column]
    switch (name) {
      case 'min':
      case 'max':
        return toJson(totals[name], resultType(field))
      case 'avg':
        return rows.of(point, column, name) ?? averageOf(field, totals, scaled)
      case 'sum':
        return finite(sumOf(field, totals, scaled))
      case 'stddev':
        return deviationOf(totals, scaled)
      default:
        return name satisfies never
    }
  }
}

type Totals = Readonly<ColumnTotals>

function averageOf({ type }: AggregatedField, totals: Totals, scaled: Totals | undefined): number {
  if (type === 'bigint') return Number(totals.wholeSum) / totals.count
  if (Number.isFinite(totals.sum)) return totals.sum / totals.count
  return (scaled?.sum ?? 0) / totals.count / scaledDown.sum
}

function sumOf({ type }: AggregatedField, totals: Totals, scaled: Totals | undefined): number {
  if (type === 'bigint') return Number(totals.wholeSum)
  return Number.isFinite(totals.sum) ? totals.sum : (scaled?.sum ?? 0) / scaledDown.sum
}

function deviationOf(totals: Totals, scaled: Totals | undefined): number | undefined {
  const { count, squares } = totals
  if (count < 2) return undefined
  if (Number.isFinite(squares)) return Math.sqrt(squares / (count - 1))
  return finite(Math.sqrt((scaled?.squares ?? 0) / (count - 1)) / scaledDown.squares)
}

/** What no double can hold is no value. */
function finite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined
}

function placeOf({ bucketUs, series }: PointTotals): string {
  return `${bucketUs} ${series}`
}
