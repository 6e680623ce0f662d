/** Work in the background that outlives a restart: see `src/reading/jobs`. */
export interface JobTables {
  export_jobs: ExportJobTable
  export_files: ExportFileTable
  import_jobs: ImportJobTable
}

interface JobTable {
  readonly id: string
  readonly owner_id: string
  readonly created_at: number
  /** The key that asked for it; null for one that was asked for before this was written down. */
  readonly created_by: string | null
  /** queued, running, completed, failed or cancelled. */
  readonly state: string
  /** From 0 to 1, when it was last written down. */
  readonly progress: number
  readonly started_at: number | null
  readonly finished_at: number | null
  /** Why it failed: a stable name, and a sentence. */
  readonly error: string | null
  readonly message: string | null
}

interface ExportJobTable extends JobTable {
  /** JSON: streams, range, format and the like. */
  readonly request: string
  /** What the finished files have together. */
  readonly rows: number
  readonly bytes: number
  /** Where the next file begins: a place in the list of streams, and within the stream. */
  readonly next_stream: number
  readonly next_cursor: string | null
}

interface ExportFileTable {
  readonly job_id: string
  readonly number: number
  readonly name: string
  readonly stream_id: string
  readonly rows: number
  readonly bytes: number
  /** Hex. */
  readonly sha256: string
}

interface ImportJobTable extends JobTable {
  readonly stream_id: string
  readonly format: string
  /** The size and the digest of the file. */
  readonly bytes: number
  readonly sha256: string
  /** The first row that is not known to be in the journal, from 0 on. */
  readonly next_row: number
  readonly accepted: number
  readonly refused: number
  /** Duplicates of the stream since the import began, as far as they were looked at. */
  readonly duplicates: number
  /** Duplicates of the stream before the import began; null until then. */
  readonly duplicates_before: number | null
  /** JSON array of the first refusals: {row, error, message}. */
  readonly refusals: string
}
