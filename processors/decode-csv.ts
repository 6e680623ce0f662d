import type {
  DecodedMessage,
  Decoder,
  StreamVersion,
  UndecodableMessage,
} from '../src/contracts/reading.ts'
import type { FieldType, StreamSchema } from '../src/contracts/stream-schema.ts'
import { timeMemberOf } from '../src/contracts/time-member.ts'
import { rememberSources } from '../src/core/number-sources.ts'
import { type CsvLine, CsvLines, CsvProblem } from './csv-lines.ts'
import { batchOf, readingsPerMessageMax, tooManyReadings } from './decode-batch.ts'
import { timeTypeOf } from './times/time-types.ts'
import {
  markProblem,
  RoundedInteger,
  textOfPayload,
  textProblem,
  typedValue,
} from './typed-text.ts'
import { readsTexts } from './values.ts'

/** A column with the type that its texts are read as; nothing for one that is left out. */
type Column =
  | { readonly name: string; readonly type: FieldType; readonly isTime: boolean }
  | undefined

/** A decoder of CSV lines, each of which is a reading. The definition names the columns. */
export function csvDecoder({
  schema,
  formatOptions: { columns: names = [], delimiter = ',' } = {},
}: Pick<StreamVersion, 'schema' | 'formatOptions'>): Decoder {
  if (names.length === 0) return () => ({ ok: false, problem: 'source.columns names no columns' })
  const columns = names.map((name) => columnOf(name, schema))
  return (payload) => decodeLines(payload, columns, delimiter)
}

function columnOf(name: string | null, schema: StreamSchema): Column {
  if (name === null) return undefined
  const field = Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined
  const isTime = name === timeMemberOf(schema) && schema.timestampFormat !== 'rfc3339'
  // What is read by wider rules is still a text here.
  const isRead = field !== undefined && !isTime && readsTexts(field, schema.values)
  const type = isRead ? 'string' : field?.type
  return { name, type: type ?? (isTime ? timeTypeOf(schema) : 'string'), isTime }
}

function decodeLines(
  payload: Uint8Array,
  columns: readonly Column[],
  delimiter: string,
): DecodedMessage | UndecodableMessage {
  const content = textOfPayload(payload)
  if (!content.ok && content.problem === markProblem) return content
  // Where some lines are no text, bytes stand for characters: what lines are cut by is ASCII.
  const text = content.ok ? content.text : bufferOf(payload).toString('latin1')
  const format = { delimiter, cellsMax: columns.length + 1 }
  const lines: CsvLine[] = []
  try {
    const source = new CsvLines(text, format)
    for (let line = source.next(); line !== undefined; line = source.next()) {
      if (lines.length === readingsPerMessageMax) return { ok: false, problem: tooManyReadings }
      lines.push(line)
    }
  } catch (error) {
    if (!(error instanceof CsvProblem)) throw error
    return { ok: false, problem: error.message }
  }
  const bytesOf = ({ start, end }: CsvLine) =>
    content.ok ? Buffer.from(text.slice(start, end)) : payload.subarray(start, end)
  const unreadable = new Map<number, string>()
  const readings = lines.map((line, index) => {
    const problem = content.ok ? undefined : textProblem(bytesOf(line))
    const cells = content.ok ? line.cells : cellsOf(bytesOf(line), format)
    const reading = problem ?? readingOf(cells, columns)
    if (typeof reading === 'object') return reading
    unreadable.set(index, reading)
    return undefined
  })
  if (!content.ok && unreadable.size === lines.length) return content
  return batchOf({ readings, format: 'csv', unreadable, elements: () => lines.map(bytesOf) })
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
