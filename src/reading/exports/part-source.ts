import type { StateDatabase } from '../../storage/state/database.ts'
import type {
  AggregatedField,
  AggregatePage,
  AggregateQuery,
} from '../../storage/time-series/aggregate-query.ts'
import type { ReadingsCursor, ReadingsQuery } from '../../storage/time-series/readings-query.ts'
import type { StoredWindowsQuery } from '../../storage/time-series/windows/window-store.ts'
import type { DataStream } from '../../streams/data-streams/data-stream-store.ts'
import type { Chunk } from '../../streams/data-streams/readings-export.ts'
import {
  csvHead,
  headOf,
  type TextColumns,
  type TextFormat,
} from '../../streams/data-streams/readings-text.ts'
import { storedFieldsOf } from '../../streams/data-streams/transform-definition.ts'
import { lineOf } from '../queries/aggregate-export.ts'
import {
  encodeAggregateCursor,
  encodeReadingsCursor,
  parseAggregateCursor,
  parseReadingsCursor,
} from '../queries/cursors.ts'
import { dataQuery } from '../queries/data-query.ts'
import type { QueriedStreams } from '../queries/queried-streams.ts'
import { timeWeights } from '../queries/time-weights.ts'
import { windowColumns, windowLine } from '../queries/window-export.ts'
import {
  encodeWindowCursor,
  parseWindowCursor,
  type WindowsQuery,
} from '../queries/window-query.ts'
import type { WindowsPage } from '../windows/read-windows.ts'
import type { ExportRequest } from './export-job.ts'
import { pointColumns, rawColumns, storedKindsOf, windowFileColumns } from './file-columns.ts'
import type { ParquetColumn } from './parquet.ts'

/** Rows that are read at once: as long as it takes, nothing else is stored. */
const chunkRowsMax = 4_000
const chunkBytesMax = 256 * 1024
const chunkPointsMax = 1_000

export interface PartSourceNeeds {
  readonly state: StateDatabase
  readonly queried: QueriedStreams
  /** Every name that fields of a stream have had. */
  readonly fieldsOf: (streamId: string) => Promise<readonly string[]>
  /** @throws DomainError `store_unavailable`, `overloaded`, `query_too_slow` */
  readonly readLines: (request: {
    readonly query: ReadingsQuery
    readonly format: TextFormat
    readonly columns: TextColumns
  }) => Promise<Chunk<ReadingsCursor>>
  /** @throws DomainError, the same and `too_many_points` */
  readonly aggregate: (query: AggregateQuery) => Promise<AggregatePage>
  /** @throws DomainError as `readLines` */
  readonly windows: (query: StoredWindowsQuery) => Promise<WindowsPage>
  readonly nowUs: () => number
}

/** Lines from where those before ended. */
export interface Lines {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly rows: number
  /** Undefined at the end of the stream. */
  readonly cursor: string | undefined
  /** How far in time that is. */
  readonly timestampUs: number | undefined
}

/** What a file of one stream is made of. */
export interface PartSource {
  readonly head: string
  /** Undefined where the lines are the file. */
  readonly parquet: readonly ParquetColumn[] | undefined
  /** At most so many. @throws DomainError as the store */
  readonly read: (cursor: string | undefined, limit: number) => Promise<Lines>
}

/**
 * Undefined for a stream that has none of the fields.
 *
 * @throws DomainError `invalid_request`, `unsupported_query` for what does not fit the stream
 */
export async function openPartSource(
  needs: PartSourceNeeds,
  stream: DataStream,
  request: ExportRequest,
): Promise<PartSource | undefined> {
  const fields = await needs.queried.fieldsOf(stream)
  const { start, end, aggregation, tz } = request
  const own = request.fields?.filter((key) => fields.has(key.split(':', 1)[0] ?? ''))
  if (own?.length === 0) return undefined
  const hasWindows = aggregation === 'window' && (await needs.queried.hasWindows(stream))
  if (aggregation === 'window' && !hasWindows) return undefined
  const weights = timeWeights([[stream]], needs.nowUs())
  const asked = { id: stream.id, fields, timeWeights: weights, hasWindows }
  const parameters = {
    start,
    end,
    order: 'asc' as const,
    cursor: undefined,
    aggregation,
    ...(tz !== 'UTC' && { tz }),
    ...(own && { fields: own.join(',') }),
  }
  const { kind, query } = dataQuery(asked, parameters, 'export')
  switch (kind) {
    case 'raw':
      return await rawSource(needs, { stream, request, own }, query)
    case 'aggregated':
      return aggregateSource(needs, { stream, request }, query)
    case 'windows':
      return await windowSource(needs, { stream, request, own }, { query, known: fields.keys() })
    default:
      return kind satisfies never
  }
}

interface Wanted {
  readonly stream: DataStream
  readonly request: ExportRequest
  readonly own?: readonly string[] | undefined
}

async function rawSource(
  { state, fieldsOf, readLines }: PartSourceNeeds,
  { stream, request, own }: Wanted,
  query: ReadingsQuery,
): Promise<PartSource> {
  const withExtra = own === undefined
  const kinds = await storedKindsOf(state, stream.id)
  const known = [...Object.keys(storedFieldsOf(stream)), ...(await fieldsOf(stream.id))]
  const fields = own ?? [...new Set(known)].sort()
  const withDigest = withExtra && kinds.hadSeveralSenders
  const columns = { fields, withExtra, withDigest, streamId: stream.id }
  const format = textFormatOf(request)
  return {
    head: headOf(format, columns),
    parquet: request.format === 'parquet' ? rawColumns(columns, kinds) : undefined,
    async read(cursor, limit) {
      const after = parseReadingsCursor(cursor)
      const size = { limit: Math.min(chunkRowsMax, limit), bytesMax: chunkBytesMax }
      const lines = await readLines({ query: { ...query, ...size, after }, format, columns })
      const { bytes, rows, next } = lines
      const cursorAfter = next && encodeReadingsCursor(next)
      return { bytes, rows, cursor: cursorAfter, timestampUs: next?.timestampUs }
    },
  }
}

function aggregateSource(
  { aggregate }: PartSourceNeeds,
  { stream, request }: Wanted,
  query: AggregateQuery,
): PartSource {
  const format = textFormatOf(request)
  const keys = query.fields.map(({ key }: AggregatedField) => key)
  return {
    head: format === 'csv' ? csvHead(['streamId', 'timestamp', ...keys, 'count']) : '',
    parquet: request.format === 'parquet' ? pointColumns(query.fields) : undefined,
    async read(cursor, limit) {
      const size = { limit: Math.min(chunkPointsMax, limit), bytesMax: chunkBytesMax }
      const after = parseAggregateCursor(cursor)
      const { points, next } = await aggregate({ ...query, ...size, after })
      const lines = points.map((point) => lineOf(format, point, { keys, streamId: stream.id }))
      return {
        bytes: new TextEncoder().encode(lines.join('')),
        rows: points.length,
        cursor: next && encodeAggregateCursor(next),
        timestampUs: next?.timestampUs,
      }
    },
  }
}

async function windowSource(
  { state, windows }: PartSourceNeeds,
  { stream, request, own }: Wanted,
  { query, known }: { readonly query: WindowsQuery; readonly known: Iterable<string> },
): Promise<PartSource> {
  const format = textFormatOf(request)
  const names = own ?? [...known].sort()
  const columns = ['streamId', ...windowColumns(names)]
  const { types } = await storedKindsOf(state, stream.id)
  return {
    head: format === 'csv' ? csvHead(columns) : '',
    parquet: request.format === 'parquet' ? windowFileColumns(names, types) : undefined,
    async read(cursor, limit) {
      const size = Math.min(chunkPointsMax, limit)
      const after = parseWindowCursor(cursor)
      const { points, next } = await windows({ ...query, limit: size, after })
      const line = { columns, fields: own, streamId: stream.id }
      return {
        bytes: new TextEncoder().encode(
          points.map((point) => windowLine(format, point, line)).join(''),
        ),
        rows: points.length,
        cursor: next && encodeWindowCursor(next),
        timestampUs: next?.timestampUs,
      }
    },
  }
}

/** Parquet is made of CSV, whose columns go by their place. */
function textFormatOf({ format }: ExportRequest): TextFormat {
  return format === 'ndjson' ? 'ndjson' : 'csv'
}
