import type { UndecodableMessage } from '../src/contracts/reading.ts'
import type { FieldType } from '../src/contracts/stream-schema.ts'
import { columnNames, columnsMax } from './csv-columns.ts'
import { type Cell, type CsvLine, CsvLines, CsvProblem } from './csv-lines.ts'
import { RoundedInteger, textOfPayload, typedValue } from './typed-text.ts'

/**
 * Characters that may stand between the values of a line; a space stands within values too often.
 */
const delimiters = [',', ';', '\t', '|']

/** A table whose first line names its columns, read without a definition that knows their types. */
export interface CsvSamples {
  readonly ok: true
  /** Nothing for a line that is unreadable. */
  readonly readings: readonly (object | undefined)[]
  /** Problems of lines, by the place of their readings. */
  readonly unreadable: ReadonlyMap<number, string>
  readonly columns: readonly string[]
  readonly delimiter: string
}

/** Takes a table apart, into at most so many readings and one that shows that there are more. Pure. */
export function csvSamples(
  payload: Uint8Array,
  readingsMax: number,
): CsvSamples | UndecodableMessage {
  const content = textOfPayload(payload)
  if (!content.ok) return content
  const { text } = content
  try {
    const delimiter = delimiterOf(text)
    const source = new CsvLines(text, { delimiter, cellsMax: columnsMax + 1 })
    const columns = columnNames(source.next()?.cells ?? [])
    if (!Array.isArray(columns)) return { ok: false, problem: columns }
    const lines: CsvLine[] = []
    for (let line = source.next(); line !== undefined; line = source.next()) {
      lines.push(line)
      if (lines.length > readingsMax) break
    }
    return { ok: true, ...readingsOf(lines, columns), columns, delimiter }
  } catch (error) {
    if (!(error instanceof CsvProblem)) throw error
    return { ok: false, problem: error.message }
  }
}

/** That which parts the first line into most values. */
function delimiterOf(text: string): string {
  const counts = delimiters.map((delimiter) => {
    const lines = new CsvLines(text, { delimiter, cellsMax: columnsMax + 1 })
    try {
      return lines.next()?.cells.length ?? 0
    } catch (error) {
      if (!(error instanceof CsvProblem)) throw error
      return 0
    }
  })
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ','
}

function readingsOf(lines: readonly CsvLine[], columns: readonly string[]) {
  const fitting = lines.filter(({ cells }) => cells.length === columns.length)
  const types = columns.map((_, index) => typeOf(fitting.map(({ cells }) => cells[index])))
  const unreadable = new Map<number, string>()
  const readings = lines.map(({ cells }, place) => {
    if (cells.length !== columns.length) {
      const found = cells.length > columnsMax ? 'more' : `${cells.length}`
      const problem = `the line has ${found} values where the first has ${columns.length}`
      unreadable.set(place, problem)
      return undefined
    }
    const reading: Record<string, unknown> = {}
    for (const [index, name] of columns.entries()) {
      const cell = cells[index]
      if (cell !== undefined) reading[name] = typedValue(cell, types[index] ?? 'string')
    }
    return reading
  })
  return { readings, unreadable }
}

/** The type of all values of a column. Switches that send 1 and 0 are taken for numbers. */
function typeOf(cells: readonly Cell[]): FieldType {
  const texts = cells.filter((cell) => cell !== undefined)
  if (texts.length === 0) return 'string'
  if (texts.every((text) => isNumber(text))) return 'number'
  return texts.every((text) => typeof typedValue(text, 'boolean') === 'boolean')
    ? 'boolean'
    : 'string'
}

function isNumber(text: string): boolean {
  try {
    return typeof typedValue(text, 'number') === 'number'
  } catch (error) {
    if (!(error instanceof RoundedInteger)) throw error
    return false
  }
}
