import { isUtf8 } from 'node:buffer'
import { statSync } from 'node:fs'
import { CsvLines, CsvProblem } from '../../../processors/csv-lines.ts'
import { timeTypeOf } from '../../../processors/times/time-types.ts'
import { RoundedInteger, typedValue } from '../../../processors/typed-text.ts'
import type { StreamSchema } from '../../contracts/stream-schema.ts'
import { timeMemberOf } from '../../contracts/time-member.ts'
import { messageOf } from '../../core/errors.ts'
import { fileStream } from '../../core/heard-streams.ts'
import { type Row, UnreadableFile } from './row.ts'

/** Longest row: what is longer has lost an end of line, or a quote. */
const rowBytesMax = 8 * 1024 * 1024

/** A stream has 256 fields at most, and files may have columns that it does not know. */
const columnsMax = 1_000

const lineFeed = 0x0a
const quoteMark = 0x22

/** Rows of NDJSON are their own JSON. */
export async function* ndjsonRows(path: string): AsyncGenerator<Row> {
  for await (const { bytes, share } of linesOf(path, false)) yield { payload: bytes, share }
}

/**
 * Rows of CSV as JSON objects, by the names of the head.
 *
 * @throws UnreadableFile for a head that names no reading
 */
export async function* csvRows(path: string, schema: StreamSchema): AsyncGenerator<Row> {
  let columns: readonly string[] | undefined
  for await (const { bytes, share } of linesOf(path, true)) {
    if (columns === undefined) columns = columnsOf(bytes, schema)
    else yield { ...csvRow(bytes, columns, schema), share }
  }
  if (columns === undefined) throw new UnreadableFile('the file is empty: it has no head')
}

function columnsOf(head: Buffer, schema: StreamSchema): readonly string[] {
  if (!isUtf8(head)) throw new UnreadableFile('the head is not valid UTF-8')
  const text = head.toString()
  // Spreadsheets put one in front.
  const columns = cellsOf(text.startsWith('\uFEFF') ? text.slice(1) : text).map((cell = '') => cell)
  if (columns.length > columnsMax) {
    throw new UnreadableFile(`the head names more than ${columnsMax} columns`)
  }
  const again = columns.find((name, place) => name === '' || columns.indexOf(name) < place)
  if (again !== undefined) {
    throw new UnreadableFile(`the head must name each column, once; see '${again.slice(0, 100)}'`)
  }
  assertTime(columns, schema)
  return columns
}

/** @throws UnreadableFile for a file none of whose rows can have a time */
export function assertTime(columns: readonly string[], schema: StreamSchema): void {
  const name = timeMemberOf(schema) ?? 'timestamp'
  if (columns.includes(name) || columns.includes('timestamp')) return
  throw new UnreadableFile(`the file has no column ${name} with the time of each row`)
}

function csvRow(
  bytes: Buffer,
  columns: readonly string[],
  schema: StreamSchema,
): Pick<Row, 'payload' | 'problem'> {
  try {
    if (!isUtf8(bytes)) throw new CsvProblem('not valid UTF-8')
    const cells = cellsOf(bytes.toString())
    if (cells.length !== columns.length) {
      const message = `the row has ${cells.length} values where the head names ${columns.length}`
      throw new CsvProblem(message)
    }
    const members = cells.flatMap((cell, place) => {
      const name = columns[place] ?? ''
      return cell === undefined ? [] : [`${JSON.stringify(name)}:${cellJson(name, cell, schema)}`]
    })
    return { payload: Buffer.from(`{${members.join(',')}}`) }
  } catch (error) {
    if (!(error instanceof CsvProblem) && !(error instanceof RoundedInteger)) throw error
    return { payload: bytes, problem: messageOf(error) }
  }
}

function cellsOf(line: string): readonly (string | undefined)[] {
  const lines = new CsvLines(line, { delimiter: ',', cellsMax: columnsMax + 1 })
  return lines.next()?.cells ?? []
}

/**
 * JSON of the value that a text stands for; what stands for none is for the schema to refuse. Numbers, and JSON in a
 * cell, keep their digits: whoever reads the row says whether they can be held.
 *
 * @throws RoundedInteger
 */
export function cellJson(name: string, text: string, schema: StreamSchema): string {
  const { fields, timestampFormat } = schema
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (field?.type === 'object' || field?.type === 'array' || name === 'extra') return asJson(text)
  const isTime = name === timeMemberOf(schema) && timestampFormat !== 'rfc3339'
  const value = typedValue(text, field?.type ?? (isTime ? timeTypeOf(schema) : 'string'))
  return typeof value === 'number' ? text : JSON.stringify(value)
}

/** A text that is JSON, as it is; any other one as a text. */
export function asJson(text: string): string {
  try {
    JSON.parse(text)
    return text
  } catch {
    return JSON.stringify(text)
  }
}

interface Line {
  /** Without the end of the line. */
  readonly bytes: Buffer
  /** How much of the file is read, from 0 to 1. */
  readonly share: number
}

/**
 * Lines that are not blank. In CSV an end of line between quotes is part of a text: there the number of
 * quotes before it is odd, doubled ones included.
 *
 * @throws UnreadableFile for a line that does not end
 */
async function* linesOf(path: string, hasQuotes: boolean): AsyncGenerator<Line> {
  const { size } = statSync(path)
  let rest: Buffer = Buffer.alloc(0)
  let read = 0
  let quotes = 0
  /** Up to where `rest` was looked through. */
  let seen = 0
  for await (const piece of fileStream(path) as AsyncIterable<Buffer>) {
    read += piece.length
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    let start = 0
    for (let end = rest.indexOf(lineFeed, seen); end >= 0; end = rest.indexOf(lineFeed, seen)) {
      if (hasQuotes) quotes += countOf(quoteMark, rest.subarray(seen, end))
      seen = end + 1
      if (quotes % 2 === 1) continue
      const bytes = withoutReturn(rest.subarray(start, end))
      if (bytes.length > 0) yield { bytes, share: read / size }
      start = seen
      quotes = 0
    }
    if (hasQuotes) quotes += countOf(quoteMark, rest.subarray(seen))
    rest = rest.subarray(start)
    seen = rest.length
    if (rest.length > rowBytesMax) {
      throw new UnreadableFile(`a row has more than ${rowBytesMax} bytes: does its line end?`)
    }
  }
  const bytes = withoutReturn(rest)
  if (bytes.length > 0) yield { bytes, share: 1 }
}

function countOf(byte: number, bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at + 1)) count++
  return count
}

function withoutReturn(bytes: Buffer): Buffer {
  return bytes.at(-1) === 0x0d ? bytes.subarray(0, -1) : bytes
}
