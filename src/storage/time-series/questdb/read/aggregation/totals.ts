import { type InstantUs, narrowed } from '../../../../../core/time.ts'
import type { AggregateFunction } from '../../../aggregate-query.ts'
import type { Column } from '../../../shape.ts'
import { quoted } from '../../layout.ts'
import { isThere } from '../field-values.ts'
import { microseconds } from '../statement.ts'

/**
 * What a bucket has of a column, so that what several statements say of it can be added up. Nothing is
 * NaN but what no double can hold on the way.
 */
export interface ColumnTotals {
  count: number
  sum: number
  /** The sum of whole numbers, exact. */
  wholeSum: bigint
  /** The least value; exact for instants. */
  min: InstantUs
  max: InstantUs
  mean: number
  /** Sum of the squares of the distances from the mean. */
  squares: number
  firstUs: number
  lastUs: number
}

export function noTotals(): ColumnTotals {
  return {
    count: 0,
    sum: 0,
    wholeSum: 0n,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    mean: 0,
    squares: 0,
    firstUs: Number.POSITIVE_INFINITY,
    lastUs: Number.NEGATIVE_INFINITY,
  }
}

/**
 * By which the values are multiplied, because the plain ones are too large to be added up, or their
 * squares are: powers of two, so that this is exact for values as large as those.
 */
export interface Scale {
  readonly sum: number
  readonly squares: number
}

export const plain: Scale = { sum: 1, squares: 1 }
export const scaledDown: Scale = { sum: 2 ** -40, squares: 2 ** -600 }

/** A part of the totals: SQL expressions, and how their values are added to what was found before. */
interface Part {
  readonly sql: readonly string[]
  /** Called where there is some value: `count` of them. */
  readonly add: (totals: ColumnTotals, cells: readonly unknown[], count: number) => void
}

export interface TotalsNeeds {
  /** As it is asked for. */
  readonly column: Column
  /** As it is stored. */
  readonly stored: Column
  readonly functions: ReadonlySet<AggregateFunction>
  readonly scale: Scale
}

/** Reads the totals of one column that some functions are made of. */
export class TotalsOfColumn {
  readonly sql: readonly string[]
  readonly #parts: readonly Part[]

  constructor({ column, stored, functions, scale }: TotalsNeeds) {
    this.#parts = partsOf(column, stored, scale)
      .filter(([, needed]) => needed.some((name) => functions.has(name)))
      .map(([part]) => part)
    this.sql = [countOf(stored), ...this.#parts.flatMap(({ sql }) => sql)]
  }

  /** Adds the values of as many expressions as `sql` has. */
  add(totals: ColumnTotals, cells: readonly unknown[]): void {
    const count = Number(cells[0])
    if (count === 0) return
    let at = 1
    for (const { sql, add } of this.#parts) {
      add(totals, cells.slice(at, at + sql.length), count)
      at += sql.length
    }
    totals.count += count
  }
}

function countOf(stored: Column): string {
  return stored.type === 'boolean'
    ? `sum(CASE WHEN ${isThere(stored)} THEN 1 ELSE 0 END)`
    : `count(${quoted(stored.name)})`
}

type NeededFor = readonly AggregateFunction[]

function partsOf(
  column: Column,
  stored: Column,
  scale: Scale,
): readonly (readonly [Part, NeededFor])[] {
  const name = quoted(stored.name)
  const time = `CASE WHEN ${isThere(stored)} THEN ${microseconds('"timestamp"')} END`
  const isInstant = stored.type === 'timestamp'
  const ordinal = isInstant ? microseconds(name) : name
  const number = stored.type === 'double' ? name : `cast(${name} AS DOUBLE)`
  const parts: (readonly [Part, NeededFor])[] = [
    [{ sql: [`min(${time})`], add: addFirst }, ['first']],
    [{ sql: [`max(${time})`], add: addLast }, ['latest']],
    [{ sql: [`min(${ordinal})`], add: isInstant ? addEarliest : addMin }, ['min']],
    [{ sql: [`max(${ordinal})`], add: isInstant ? addLatest : addMax }, ['max']],
    [momentsOf(times(number, scale.squares)), ['stddev']],
  ]
  const sum = column.type === 'bigint' ? wholeSumOf(name) : sumOf(times(number, scale.sum))
  return [...parts, [sum, ['avg', 'sum']]]
}

function times(number: string, factor: number): string {
  return factor === 1 ? number : `${number} * ${factor}`
}

/** Kahan summation. */
function sumOf(number: string): Part {
  return {
    sql: [`ksum(${number})`],
    add: (totals, [sum]) => {
      totals.sum += doubleOf(sum)
    },
  }
}

const wordSize = 2 ** 32

/** In two parts, because the sum of large whole numbers would wrap around. */
function wholeSumOf(name: string): Part {
  return {
    sql: [`sum(${name} / ${wordSize})`, `sum(${name} % ${wordSize})`],
    add: (totals, [upper, lower]) => {
      totals.wholeSum += BigInt(upper as string) * BigInt(wordSize) + BigInt(lower as string)
    },
  }
}

/** Chan, Golub, LeVeque: "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances". */
function momentsOf(number: string): Part {
  return {
    sql: [`avg(${number})`, `stddev_samp(${number})`],
    add: (totals, [mean, deviation], count) => {
      const all = totals.count + count
      const distance = doubleOf(mean) - totals.mean
      const own = count === 1 ? 0 : doubleOf(deviation) ** 2 * (count - 1)
      const between = totals.count === 0 ? 0 : distance * distance * ((totals.count * count) / all)
      totals.mean = totals.count === 0 ? doubleOf(mean) : totals.mean + distance * (count / all)
      totals.squares += own + between
    },
  }
}

function addMin(totals: ColumnTotals, [min]: readonly unknown[]): void {
  widen(totals, Number(min), Number.NEGATIVE_INFINITY)
}

function addMax(totals: ColumnTotals, [max]: readonly unknown[]): void {
  widen(totals, Number.POSITIVE_INFINITY, Number(max))
}

/** QuestDB answers with the digits of large numbers as texts. */
function addEarliest(totals: ColumnTotals, [min]: readonly unknown[]): void {
  widen(totals, narrowed(BigInt(min as string | number)), Number.NEGATIVE_INFINITY)
}

function addLatest(totals: ColumnTotals, [max]: readonly unknown[]): void {
  widen(totals, Number.POSITIVE_INFINITY, narrowed(BigInt(max as string | number)))
}

/** Takes in the least and the greatest of more values. */
export function widen(totals: ColumnTotals, min: InstantUs, max: InstantUs): void {
  if (min < totals.min) totals.min = min
  if (max > totals.max) totals.max = max
}

function addFirst(totals: ColumnTotals, [time]: readonly unknown[]): void {
  totals.firstUs = Math.min(totals.firstUs, Number(time))
}

function addLast(totals: ColumnTotals, [time]: readonly unknown[]): void {
  totals.lastUs = Math.max(totals.lastUs, Number(time))
}

/** What is not finite is null in an answer. */
function doubleOf(cell: unknown): number {
  return cell === null ? Number.NaN : Number(cell)
}
