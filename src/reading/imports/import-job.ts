import type { ImportId, StreamId } from '../../core/ids.ts'
import type { Job } from '../jobs/job.ts'

export const importFormats = ['csv', 'ndjson', 'parquet'] as const

export type ImportFormat = (typeof importFormats)[number]

/** Formats of files, by what the body of a request says that it is. */
export const formatOfContentType: Readonly<Record<string, ImportFormat>> = {
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/vnd.apache.parquet': 'parquet',
}

/** Refused rows of which a job says why; the quarantine has all that find room there. */
export const refusalsMax = 100

/** Why a row was refused. */
export interface RowRefusal {
  /** From 1 on; the head of CSV and blank lines are none. */
  readonly row: number
  readonly error: string
  readonly message: string
}

/** How far an import has come. */
export interface ImportPlace {
  /** Rows that are in the journal, or known to be no readings. */
  readonly nextRow: number
  readonly accepted: number
  readonly refused: number
  readonly duplicates: number
  readonly refusals: readonly RowRefusal[]
  readonly progress: number
}

export interface ImportJob extends Job<ImportId>, ImportPlace {
  readonly streamId: StreamId
  readonly format: ImportFormat
  readonly bytes: number
  /** Hex. */
  readonly sha256: string
  /** Duplicates that the stream had before; undefined until the job has begun. */
  readonly duplicatesBefore: number | undefined
}
