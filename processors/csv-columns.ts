import { cutText } from '../src/core/cut-text.ts'
import type { Cell } from './csv-lines.ts'

/** Columns of a table, those that a stream leaves out included. */
export const columnsMax = 256

/** The names of columns in the cells of a line, or what is wrong with them. */
export function columnNames(cells: readonly Cell[]): string[] | string {
  if (cells.length > columnsMax) return `the line with names has more than ${columnsMax} columns`
  const names = new Set<string>()
  for (const [index, name] of cells.entries()) {
    if (name === undefined || name === '') return `column ${index + 1} has no name`
    if (name === '__proto__') return '__proto__ is not a name of a column'
    if (names.has(name)) return `two columns are named ${cutText(name, 100)}`
    names.add(name)
  }
  return [...names]
}
