import { CsvError, parse } from 'csv-parse/sync'
import { DomainError } from '../../core/errors.ts'
import { withoutSpaceAround } from '../../core/white-space.ts'
import { csvHead, csvLineEnd, csvValue } from '../data-streams/readings-text.ts'
import { bulkMax } from './device.ts'

/** Devices as the lines of a table, which is what people keep lists of devices in. */

/** Characters of one line. */
const lineLengthMax = 65_536

/**
 * Lines that are read: the names, as many devices as may come, and one that shows that there are more.
 * A body has room for a million, which would keep everybody waiting for seconds.
 */
const linesMax = 1 + bulkMax + 1

/** One line, in the form of a JSON request, and where it stands. */
export interface CsvRow {
  readonly place: string
  readonly value: Readonly<Record<string, unknown>>
}

const columns = [
  'name',
  'streamId',
  'streamName',
  'clientId',
  'certificateName',
  'readingsPerSecond',
  'burst',
  'expiresAt',
  'foreignTopics',
] as const

type Column = (typeof columns)[number]

interface ParsedLine {
  readonly record: readonly string[]
  readonly info: { readonly lines: number }
}

/**
 * Reads a table whose first line names its columns, in any order. An empty cell is as good as none;
 * several ids of streams are separated by spaces.
 *
 * @throws DomainError `malformed_body` for what is no CSV in UTF-8, or has other columns
 */
export function parseDeviceTable(bytes: Buffer): readonly CsvRow[] {
  const [head, ...lines] = parsedLines(bytes)
  const names = (head?.record ?? []).map((name) => name.trim())
  const unknown = names.find((name) => !columns.includes(name as Column))
  if (unknown !== undefined || names.length === 0) {
    const message = `the first line has to name columns: ${columns.join(', ')}; not '${unknown ?? ''}'`
    throw new DomainError('malformed_body', message)
  }
  if (new Set(names).size < names.length) {
    throw new DomainError('malformed_body', 'a column comes twice')
  }
  return lines.map(({ record, info }) => {
    const place = `line ${info.lines}`
    if (record.length !== names.length) {
      throw new DomainError('malformed_body', `${place} has not ${names.length} cells`)
    }
    const cells = names.map(
      (name, index) => [name, withoutSpaceAround(record[index] ?? '')] as const,
    )
    const given = Object.fromEntries(cells.filter(([, cell]) => cell !== ''))
    return { place, value: requestOf(given) }
  })
}

function parsedLines(bytes: Buffer): readonly ParsedLine[] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return parse(text, {
      info: true,
      skip_empty_lines: true,
      relax_column_count: true,
      max_record_size: lineLengthMax,
      to: linesMax,
    }) as unknown as readonly ParsedLine[]
  } catch (error) {
    if (error instanceof CsvError) throw new DomainError('malformed_body', error.message)
    if (error instanceof TypeError) throw new DomainError('malformed_body', 'the body is not UTF-8')
    throw error
  }
}

function requestOf(cells: Readonly<Partial<Record<Column, string>>>): CsvRow['value'] {
  const { streamId, readingsPerSecond, burst, ...same } = cells
  const hasRate = readingsPerSecond !== undefined || burst !== undefined
  return {
    ...same,
    ...(streamId !== undefined && { streamIds: streamId.split(/ +/) }),
    ...(hasRate && {
      rateLimit: { readingsPerSecond: numberOf(readingsPerSecond), burst: numberOf(burst) },
    }),
  }
}

/** What is no number is left as it is, and is then found to be none. */
function numberOf(cell: string | undefined): unknown {
  return cell !== undefined && /^\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell
}

const answeredColumns = [
  'name',
  'apiKey',
  'apiSecret',
  'streamIds',
  'clientId',
  'certificateName',
  'expiresAt',
  'commandTopic',
]

/** A device in an answer that shows its secret. */
export type ShownDevice = Readonly<Record<string, unknown>>

/** New devices with their secrets, as a table. */
export function deviceTable(devices: readonly ShownDevice[]): string {
  const lines = devices.map((device) =>
    answeredColumns.map((name) => cellOf(device[name])).join(','),
  )
  return csvHead(answeredColumns) + lines.map((line) => line + csvLineEnd).join('')
}

/** Ids stand next to each other; a time or a name that there is not is an empty cell. */
function cellOf(value: unknown): string {
  return csvValue(withoutFormula(Array.isArray(value) ? value.join(' ') : (value as string | null)))
}

/** What a spreadsheet would run as a formula begins with an apostrophe, which it shows as text. */
function withoutFormula(cell: string | null): string | null {
  return cell !== null && /^\s*[=+\-@]|^[\t\r]/.test(cell) ? `'${cell}` : cell
}
