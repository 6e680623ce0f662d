import type { AggregatePoint } from '../../../aggregate-query.ts'
import { isText } from '../../../aggregation/united-fields.ts'
import type { KnownValue } from '../../../fill.ts'
import type { PointTotals } from './read-totals.ts'
import type { Selection } from './selection.ts'

/** The first values that come of some fields, of each series. */
export class OutermostFields {
  /** What is to be read of points: nothing but those fields. */
  readonly selection: Selection
  readonly values = new Map<number, Map<number, KnownValue>>()
  readonly #fields: readonly number[]
  readonly #series: ReadonlyMap<string, number>
  readonly #selection: Selection
  #found = 0

  constructor(selection: Selection, fields: readonly number[]) {
    this.#fields = fields
    this.#series = new Map(selection.query.series.map(({ key }, index) => [key, index]))
    this.#selection = selection
    this.selection = {
      ...selection,
      fields: selection.fields.filter((_, at) => fields.includes(at)),
    }
  }

  get isComplete(): boolean {
    return this.#found === this.#fields.length * this.#series.size
  }

  /** Points that can have one of the values: of texts, which may be large, none but the outermost ones. */
  telling(points: readonly PointTotals[]): readonly PointTotals[] {
    const { fields, columns } = this.#selection
    const texts = new Set<string>()
    return points.filter(({ series, columns: totals }) => {
      const tells = this.#fields.filter((index) => {
        const field = fields[index]
        if (!field || this.values.get(series)?.has(index)) return false
        const column = columns.findIndex(({ name }) => name === field.name)
        if (!totals[column]?.count) return false
        if (!isText(field)) return true
        const place = `${series} ${index}`
        const isFirst = !texts.has(place)
        texts.add(place)
        return isFirst
      })
      return tells.length > 0
    })
  }

  add({ series, timestampUs, values }: AggregatePoint): void {
    const index = this.#series.get(series) as number
    const own = this.values.get(index) ?? new Map<number, KnownValue>()
    this.values.set(index, own)
    for (const field of this.#fields) {
      const value = values[this.#selection.fields[field]?.key ?? '']
      if (value === undefined || own.has(field)) continue
      own.set(field, { timestampUs, value })
      this.#found++
    }
  }
}
