import { rollupWidthUs } from '../../rollups/rollup-width.ts'
import type { Column, ColumnType } from '../../shape.ts'
import { ceilTo, floorTo, type WindowRange } from '../../windows/window-starts.ts'
import { type ColumnTotals, widen } from '../read/aggregation/totals.ts'

/** The half hours of a day (UTC) of one stream and one shape are one row. */
export const dayUs = 86_400_000_000

const rowsPerDay = dayUs / rollupWidthUs

/** Numbers of a column in each half hour: how many values, when the first and the last were, and what else there is. */
const numbersOf: Readonly<Record<ColumnType, number>> = {
  double: 6,
  bigint: 7,
  timestamp: 5,
  boolean: 3,
  varchar: 3,
  json: 3,
}

const wordSize = 2n ** 32n

/** What readings of a half hour amount to, in the order of the columns of a shape. */
export interface HalfHour {
  readonly count: number
  readonly columns: readonly ColumnTotals[]
}

/** Where the numbers of a shape lie in a day. */
export class DayLayout {
  readonly #columns: readonly Column[]
  /** By the place of a column in its shape. */
  readonly #places: readonly number[]
  readonly #width: number

  constructor(columns: readonly Column[]) {
    let width = 1
    this.#places = columns.map(({ type }) => {
      const place = width
      width += numbersOf[type]
      return place
    })
    this.#columns = columns
    this.#width = width
  }

  /** Without readings. */
  emptyDay(): Float64Array {
    return new Float64Array(rowsPerDay * this.#width)
  }

  /** Takes away what a day that begins at `startUs` has in a range of whole half hours. */
  clear(day: Float64Array, startUs: number, range: WindowRange): void {
    const [from, to] = halfHoursIn(startUs, range)
    day.fill(0, from * this.#width, to * this.#width)
  }

  /** Notes what the half hour that begins at `atUs` has. */
  set(day: Float64Array, atUs: number, { count, columns }: HalfHour): void {
    const at = ((atUs - floorTo(atUs, dayUs)) / rollupWidthUs) * this.#width
    day[at] = count
    for (const [index, { type }] of this.#columns.entries()) {
      const totals = columns[index]
      if (!totals || totals.count === 0) continue
      day.set(numbersOfColumn(totals, type), at + (this.#places[index] as number))
    }
  }

  isEmpty(day: Float64Array): boolean {
    for (let at = 0; at < day.length; at += this.#width) if (day[at] !== 0) return false
    return true
  }

  /** Half hours of a day that have readings and begin in a range, in ascending time. */
  *halfHours(day: Float64Array, startUs: number, range: WindowRange): Generator<KeptHalfHour> {
    const [from, to] = halfHoursIn(startUs, range)
    for (let index = from; index < to; index++) {
      const at = index * this.#width
      const count = day[at] as number
      if (count > 0) yield { atUs: startUs + index * rollupWidthUs, count, at }
    }
  }

  /**
   * Adds what a half hour has of a column, but for the sum of doubles, which it returns: whoever adds up many of
   * them does so carefully.
   */
  addTo(totals: ColumnTotals, day: Float64Array, { at, column }: KeptColumn): number {
    const type = this.#columns[column]?.type as ColumnType
    return addNumbers(totals, type, { day, at: at + (this.#places[column] as number) })
  }
}

/** A half hour of a day, and where its numbers begin. */
export interface KeptHalfHour {
  readonly atUs: number
  readonly count: number
  readonly at: number
}

interface KeptColumn {
  readonly at: number
  /** Its place in the shape. */
  readonly column: number
}

function halfHoursIn(startUs: number, { fromUs, toUs }: WindowRange): readonly [number, number] {
  const within = (us: number) => Math.min(Math.max(us - startUs, 0), dayUs) / rollupWidthUs
  return [within(ceilTo(fromUs, rollupWidthUs)), within(ceilTo(toUs, rollupWidthUs))]
}

function numbersOfColumn(totals: ColumnTotals, type: ColumnType): readonly number[] {
  const { count, sum, wholeSum, firstUs, lastUs } = totals
  // Instants beyond what doubles count are rounded here: who asks for them finds that, and reads the readings.
  const [min, max] = [Number(totals.min), Number(totals.max)]
  const always = [count, firstUs, lastUs]
  if (type === 'double') return [...always, min, max, sum]
  if (type === 'timestamp') return [...always, min, max]
  if (type !== 'bigint') return always
  // Each half is exact as a double.
  return [...always, min, max, Number(wholeSum / wordSize), Number(wholeSum % wordSize)]
}

function addNumbers(
  totals: ColumnTotals,
  type: ColumnType,
  { day, at }: { readonly day: Float64Array; readonly at: number },
): number {
  const count = day[at] as number
  if (count === 0) return 0
  totals.count += count
  totals.firstUs = Math.min(totals.firstUs, day[at + 1] as number)
  totals.lastUs = Math.max(totals.lastUs, day[at + 2] as number)
  if (numbersOf[type] === 3) return 0
  widen(totals, day[at + 3] as number, day[at + 4] as number)
  if (type === 'timestamp') return 0
  if (type === 'double') return day[at + 5] as number
  const whole = BigInt(day[at + 5] as number) * wordSize + BigInt(day[at + 6] as number)
  totals.wholeSum += whole
  // Where the field has become one of any numbers.
  return Number(whole)
}
