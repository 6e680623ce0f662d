import { constants, setPriority } from 'node:os'
import type { StreamSchema } from '../../contracts/stream-schema.ts'
import { messageOf } from '../../core/errors.ts'
import type { ImportFormat } from './import-job.ts'
import { type Row, UnreadableFile } from './row.ts'
import { csvRows, ndjsonRows } from './text-rows.ts'

/** Rows of one answer, and about how many bytes. */
const portionRows = 200
const portionBytes = 256 * 1024

/** What the process is told first; after that every message asks for the next portion. */
export interface FileToRead {
  readonly path: string
  readonly format: ImportFormat
  readonly schema: StreamSchema
  /** Rows to pass over. */
  readonly skip: number
}

/** What it answers, or why it ends. */
export type Portion =
  | { readonly rows: readonly Row[]; readonly isLast: boolean }
  | { readonly problem: string; readonly isFault: boolean }

/**
 * Reads a file of somebody else's in a process of its own: were it made to break what reads it, it
 * would break nothing else. It reads on only when it is asked to.
 */
function run(): void {
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  let portions: AsyncGenerator<Portion> | undefined
  // The service has ended, or does not want any more.
  process.once('disconnect', () => process.exit())
  process.on('message', (message: FileToRead | 'next') => {
    if (message !== 'next') {
      portions = portionsOf(message)
      return
    }
    void answer(portions)
  })
}

async function answer(portions: AsyncGenerator<Portion> | undefined): Promise<void> {
  try {
    const { value, done } = (await portions?.next()) ?? { done: true, value: undefined }
    process.send?.(done === true ? { rows: [], isLast: true } : value)
  } catch (error) {
    const isFault = !(error instanceof UnreadableFile)
    process.send?.({ problem: messageOf(error), isFault } satisfies Portion)
  }
}

async function rowsOf({ path, format, schema }: FileToRead): Promise<AsyncGenerator<Row>> {
  switch (format) {
    case 'csv':
      return csvRows(path, schema)
    case 'ndjson':
      return ndjsonRows(path)
    case 'parquet': {
      // DuckDB takes longer to load than most files take to be read.
      const { parquetRows } = await import('./parquet-rows.ts')
      return parquetRows(path, schema)
    }
    default:
      return format satisfies never
  }
}

async function* portionsOf(file: FileToRead): AsyncGenerator<Portion> {
  let rows: Row[] = []
  let bytes = 0
  let passed = 0
  for await (const row of await rowsOf(file)) {
    if (passed++ < file.skip) continue
    rows.push(row)
    bytes += row.payload.length
    if (rows.length < portionRows && bytes < portionBytes) continue
    yield { rows, isLast: false }
    rows = []
    bytes = 0
  }
  yield { rows, isLast: true }
}

run()
