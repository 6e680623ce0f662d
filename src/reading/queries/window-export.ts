import type { Readable } from 'node:stream'
import type { UserId } from '../../core/ids.ts'
import type { WindowCursor } from '../../storage/time-series/windows/window-store.ts'
import {
  type Answering,
  type ExportType,
  formatOf,
  openLines,
} from '../../streams/data-streams/export-route.ts'
import type { ReadingsExports } from '../../streams/data-streams/readings-export.ts'
import {
  csvHead,
  csvLineEnd,
  csvValue,
  type TextFormat,
} from '../../streams/data-streams/readings-text.ts'
import type { WindowPoint, WindowsPage } from '../windows/read-windows.ts'
import { ownWindowKeys, type WindowsQuery, windowBody, windowKey } from './window-query.ts'

/** Windows of one chunk: open ones are computed for it. */
const chunkWindowsMax = 1_000

interface WindowExportNeeds {
  readonly exports: ReadingsExports
  readonly store: { windows(query: WindowsQuery): Promise<WindowsPage> }
}

interface Wanted {
  readonly userId: UserId
  readonly type: ExportType
  /** All fields of the stream, by name. */
  readonly known: Iterable<string>
}

/** Windows of one stream as lines, up to the end of the range. */
export async function exportedWindows(
  { exports, store }: WindowExportNeeds,
  query: WindowsQuery,
  { userId, type, known }: Wanted,
  answering: Answering,
): Promise<Readable> {
  const fields = query.fields ?? [...known].sort()
  const columns = windowColumns(fields)
  const format = formatOf(type)
  const read = async (after: WindowCursor | undefined, left: number) => {
    const limit = Math.min(chunkWindowsMax, left)
    const { points, next } = await store.windows({ ...query, limit, after: after ?? query.after })
    const lines = points.map((point) =>
      windowLine(format, point, { columns, fields: query.fields }),
    )
    return { bytes: new TextEncoder().encode(lines.join('')), rows: points.length, next }
  }
  const head = format === 'csv' ? csvHead(columns) : ''
  return await openLines(exports, type, { userId, head, limit: query.limit, read }, answering)
}

/** Columns of windows that have these fields. */
export function windowColumns(fields: readonly string[]): readonly string[] {
  return ['timestamp', ...fields.map(windowKey), ...ownWindowKeys]
}

interface WindowLine {
  readonly columns: readonly string[]
  /** Fields that are shown: all where that is nothing. */
  readonly fields: readonly string[] | undefined
  /** Stands in front where it is to say whose it is. */
  readonly streamId?: string
}

/** A window as a line, with its end. */
export function windowLine(
  format: TextFormat,
  point: WindowPoint,
  { columns, fields, streamId }: WindowLine,
): string {
  const own = streamId === undefined ? {} : { streamId }
  const body: Readonly<Record<string, unknown>> = { ...own, ...windowBody(point, fields) }
  if (format === 'ndjson') return `${JSON.stringify(body)}\n`
  return columns.map((key) => csvValue(body[key])).join(',') + csvLineEnd
}
