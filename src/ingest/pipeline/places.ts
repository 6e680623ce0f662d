import type { Shape } from '../../storage/time-series/shape.ts'

/** Columns, over all months and shapes, that one shipment may touch: each takes memory. */
const columnsMax = 2_048

/** Columns that a store has beside the fields, about. */
const ownColumns = 6

const monthUs = 30 * 86_400_000_000

/**
 * The places in a store that one shipment touches. Stores keep shapes, and months or the like, apart,
 * and each column of a place takes memory while it is written to; readings that are spread over
 * decades must not open hundreds of places at once.
 */
export class Places {
  readonly #taken = new Set<string>()
  /** The month of each shape that was taken last: neighbours in time mostly share it. */
  readonly #months = new Map<Shape, number>()
  #columns = 0
  #areFull = false

  get count(): number {
    return this.#taken.size
  }

  /** Whether there was one too many. */
  get areFull(): boolean {
    return this.#areFull
  }

  /** Notes the place of a reading; false when that would be one too many. */
  take(shape: Shape, timestampUs: number): boolean {
    const month = Math.floor(timestampUs / monthUs)
    if (this.#months.get(shape) === month) return true
    const place = `${shape.id} ${month}`
    if (!this.#taken.has(place)) {
      // One place is always possible, however wide it is.
      this.#areFull = this.#taken.size > 0 && this.#columns + shape.columns.length > columnsMax
      if (this.#areFull) return false
      this.#columns += shape.columns.length + ownColumns
      this.#taken.add(place)
    }
    this.#months.set(shape, month)
    return true
  }
}
