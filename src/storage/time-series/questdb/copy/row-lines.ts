import type { Column, Shape } from '../../shape.ts'
import type { ShippedReading } from '../../shipment.ts'
import { digestOf, quoted, tableOf } from '../layout.ts'
import { fieldValue, selectedField } from '../read/field-values.ts'
import { microseconds } from '../read/statement.ts'

/**
 * Rows as lines of JSON. The first line of a table says which one it is:
 *
 *     {"table": "readings_<shape>", "shape": {"id": ..., "columns": [...]}}
 *
 * Each other line is a row: an array of what `selectedRow` selects, as the server has answered it.
 */
export interface TableLine {
  readonly table: string
  readonly shape: Shape
}

export type RowLine = readonly unknown[]

/** The line before the rows of a table. */
export function tableLine(shape: Shape): TableLine {
  return { table: tableOf('', shape.id), shape }
}

const ownFields = [
  quoted('streamId'),
  microseconds(quoted('timestamp')),
  quoted('$digest'),
  microseconds(quoted('$receivedAt')),
  quoted('$offset'),
  quoted('extra'),
  quoted('$flagged'),
]

/** Where the time of a row stands in its line. */
export const timestampIndex = 1

/** SQL of what a line has. */
export function selectedRow(columns: readonly Column[]): string {
  return [...ownFields, ...columns.map(selectedField)].join(', ')
}

/** The reading that became the row. */
export function readingOf(row: RowLine, shape: Shape): ShippedReading {
  const [streamId, timestamp, digest, receivedAt, offset, extra, flagged] = row
  const values: Record<string, unknown> = {}
  for (const [index, { name, type }] of shape.columns.entries()) {
    const value = fieldValue(row[ownFields.length + index], type)
    if (value !== undefined) values[name] = value
  }
  return {
    streamId: String(streamId),
    shape,
    offset: Number(offset),
    timestampUs: Number(timestamp),
    receivedAtUs: Number(receivedAt),
    digest: digestOf(digest as string | null),
    values: JSON.stringify(values),
    extra: typeof extra === 'string' ? extra : undefined,
    flagged: typeof flagged === 'string' ? flagged.split(',') : [],
  }
}

/** The lines of a text that comes in pieces. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<TableLine | RowLine> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as TableLine | RowLine
  }
}
