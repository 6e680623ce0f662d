import type { ExportId, StreamId } from '../../core/ids.ts'
import type { Job } from '../jobs/job.ts'

export const exportFormats = ['parquet', 'csv', 'ndjson'] as const

export type ExportFormat = (typeof exportFormats)[number]

export const contentTypes: Readonly<Record<ExportFormat, string>> = {
  parquet: 'application/vnd.apache.parquet',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
}

/** What a job is to write: decided once, when it was made. */
export interface ExportRequest {
  /** Each stream gets files of its own, in this order. */
  readonly streamIds: readonly StreamId[]
  /** RFC 3339; [start, end). */
  readonly start: string
  readonly end: string
  readonly format: ExportFormat
  /** As in queries: `raw` for readings as they are. */
  readonly aggregation: string
  readonly tz: string
  /** As in queries; all when absent. A stream that lacks one of them is written without it. */
  readonly fields?: readonly string[]
}

export interface ExportJob extends Job<ExportId> {
  readonly request: ExportRequest
  /** What the finished files have together. */
  readonly rows: number
  readonly bytes: number
  /** Where the next file begins: a place in the list of streams, and within the stream. */
  readonly nextStream: number
  readonly nextCursor: string | undefined
}

/** A finished file: it is never written again. */
export interface ExportFile {
  readonly number: number
  readonly name: string
  readonly streamId: StreamId
  readonly rows: number
  readonly bytes: number
  /** Hex. */
  readonly sha256: string
}

/** Files in the order of their stream and its time. */
export function fileNameOf(number: number, streamId: StreamId, format: ExportFormat): string {
  return `${String(number).padStart(6, '0')}-${streamId}.${format}`
}
