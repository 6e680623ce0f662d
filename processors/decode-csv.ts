import type {
  DecodedMessage,
  Decoder,
  StreamVersion,
  UndecodableMessage,
} from '../src/contracts/reading.ts'
import { rememberSources } from '../src/core/number-sources.ts'
import { columnNames, columnsMax } from './csv-columns.ts'
import { type CsvLine, CsvLines, CsvProblem } from './csv-lines.ts'
import { batchOf, readingsPerMessageMax, tooManyReadings } from './decode-batch.ts'
import { type TextMember, textMembersOf } from './member-types.ts'
import {
  markProblem,
  RoundedInteger,
  textOfPayload,
  textProblem,
  typedValue,
} from './typed-text.ts'

/** A column with the type that its texts are read as; nothing for one that is left out. */
type Column = Pick<TextMember, 'name' | 'type' | 'isTime'> | undefined

/** What a definition says of the lines of a message. */
interface Table {
  /** Undefined: a header line names them. */
  readonly columns: readonly Column[] | undefined
  readonly delimiter: string
  readonly headerLines: number
  /** Which of the header lines names the columns, from 1 on. */
  readonly columnsLine: number
  readonly columnFor: (name: string) => Column
}

/**
 * Bytes that the lines of one message are kept with: each has the header before it, so that it can be read by itself
 * later.
 */
const keptBytesMax = 32 * 1024 * 1024

/** A decoder of CSV lines, each of which is a reading. The definition names the columns, or a line of the message. */
export function csvDecoder({
  schema,
  formatOptions: { columns: names = [], delimiter = ',', headerLines = 0, columnsLine } = {},
}: Pick<StreamVersion, 'schema' | 'formatOptions'>): Decoder {
  if (names.length === 0 && headerLines === 0) {
    return () => ({ ok: false, problem: 'source.columns names no columns' })
  }
  const columnFor = textMembersOf(schema)
  const columns =
    names.length === 0
      ? undefined
      : names.map((name) => (name === null ? undefined : columnFor(name)))
  const line = columnsLine ?? headerLines
  const table = { columns, delimiter, headerLines, columnsLine: line, columnFor }
  return (payload) => {
    try {
      return decodeLines(payload, table)
    } catch (error) {
      if (!(error instanceof CsvProblem)) throw error
      return { ok: false, problem: error.message }
    }
  }
}

/** @throws CsvProblem */
function decodeLines(payload: Uint8Array, table: Table): DecodedMessage | UndecodableMessage {
  const content = textOfPayload(payload)
  if (!content.ok && content.problem === markProblem) return content
  // Where some lines are no text, bytes stand for characters: what lines are cut by is ASCII.
  const text = content.ok ? content.text : bufferOf(payload).toString('latin1')
  const bytesOf = ({ start, end }: Pick<CsvLine, 'start' | 'end'>) =>
    content.ok ? Buffer.from(text.slice(start, end)) : payload.subarray(start, end)
  const { delimiter, headerLines } = table
  const cellsMax = (table.columns?.length ?? columnsMax) + 1
  const source = new CsvLines(text, { delimiter, cellsMax })
  const header = Array.from({ length: headerLines }, () => source.next())
  const last = header.at(-1)
  if (headerLines > 0 && last === undefined) {
    return { ok: false, problem: `the message has fewer than ${headerLines} lines` }
  }
  const columns = table.columns ?? columnsIn(header[table.columnsLine - 1], bytesOf, table)
  const lines: CsvLine[] = []
  for (let line = source.next(); line !== undefined; line = source.next()) {
    if (lines.length === readingsPerMessageMax) return { ok: false, problem: tooManyReadings }
    lines.push(line)
  }
  const unreadable = new Map<number, string>()
  const readings = lines.map((line, index) => {
    const problem = content.ok ? undefined : textProblem(bytesOf(line))
    const cells = content.ok ? line.cells : cellsOf(bytesOf(line), { delimiter, cellsMax })
    const reading = problem ?? readingOf(cells, columns)
    if (typeof reading === 'object') return reading
    unreadable.set(index, reading)
    return undefined
  })
  if (!content.ok && lines.length > 0 && unreadable.size === lines.length) return content
  const head =
    last === undefined ? undefined : Buffer.concat([bytesOf({ start: 0, end: last.end }), lineFeed])
  if (head !== undefined && head.length * lines.length > keptBytesMax) {
    return { ok: false, problem: 'the header lines are too long for so many lines' }
  }
  const elements = () =>
    lines.map((line) => (head === undefined ? bytesOf(line) : Buffer.concat([head, bytesOf(line)])))
  return batchOf({ readings, format: 'csv', unreadable, elements })
}

const lineFeed = Buffer.from('\n')

/** The columns that a header line names. @throws CsvProblem */
function columnsIn(
  line: CsvLine | undefined,
  bytesOf: (line: CsvLine) => Uint8Array,
  { delimiter, columnFor }: Table,
): readonly Column[] {
  if (line === undefined) throw new CsvProblem('no header line names the columns')
  const bytes = bytesOf(line)
  const problem = textProblem(bytes)
  if (problem !== undefined) throw new CsvProblem(`the names of the columns: ${problem}`)
  const names = columnNames(cellsOf(bytes, { delimiter, cellsMax: columnsMax + 1 }))
  if (typeof names === 'string') throw new CsvProblem(names)
  return names.map(columnFor)
}

function cellsOf(
  line: Uint8Array,
  format: ConstructorParameters<typeof CsvLines>[1],
): CsvLine['cells'] {
  return new CsvLines(bufferOf(line).toString(), format).next()?.cells ?? []
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** The reading of a line, or what is wrong with it. */
function readingOf(cells: CsvLine['cells'], columns: readonly Column[]): object | string {
  if (cells.length !== columns.length) {
    const found = cells.length > columns.length ? 'more' : `${cells.length}`
    return `the line has ${found} values where the stream has ${columns.length} columns`
  }
  const reading: Record<string, unknown> = {}
  try {
    for (const [index, column] of columns.entries()) {
      const cell = cells[index]
      // An empty cell is a value that is missing; "" is an empty text.
      if (cell === undefined || column === undefined) continue
      reading[column.name] = typedValue(cell, column.type)
      if (column.isTime) rememberSources(reading, { [column.name]: cell })
    }
  } catch (error) {
    if (!(error instanceof RoundedInteger)) throw error
    return error.message
  }
  return reading
}
