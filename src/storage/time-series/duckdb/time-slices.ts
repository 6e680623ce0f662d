import { ceilTo } from '../windows/window-starts.ts'
import type { ReadingsTable } from './catalog.ts'

/** Rows that are read at once, about: after that many DuckDB can give its memory back. */
const rowsPerSlice = 2_000_000

/** Rows of a table whose times are at `startUs` or later, and before `endUs`. */
export interface TimeSlice {
  readonly table: ReadingsTable
  readonly startUs: number
  readonly endUs: number
}

/**
 * Parts of equal length, which is a multiple of `unitUs`: rows of a month lie about in the order of
 * their times.
 */
export function slicesOf({ table, startUs, endUs }: TimeSlice, unitUs = 1): readonly TimeSlice[] {
  const count = Math.max(1, Math.ceil(table.rows / rowsPerSlice))
  const widthUs = ceilTo(Math.ceil((endUs - startUs) / count), unitUs)
  return Array.from({ length: count }, (_, index) => ({
    table,
    startUs: startUs + index * widthUs,
    endUs: Math.min(endUs, startUs + (index + 1) * widthUs),
  })).filter((slice) => slice.startUs < slice.endUs)
}

/** Condition for rows of a slice, by the name that a statement gives to their table. */
export function within(alias: string, startUs: number, endUs: number): string {
  return `${alias}."timestamp" >= make_timestamp(${startUs}::BIGINT)
    AND ${alias}."timestamp" < make_timestamp(${endUs}::BIGINT)`
}
