import { type Compilable, type Selectable, sql } from 'kysely'
import { type ExportId, newId, type StreamId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { type JobMaker, jobOf } from '../jobs/job.ts'
import { JobStore } from '../jobs/job-store.ts'
import type { ExportFile, ExportJob, ExportRequest } from './export-job.ts'

type ExportRow = Selectable<StateSchema['export_jobs']>

/** What of a job follows from a file that was finished. */
export interface FileDone {
  readonly file: ExportFile
  readonly nextStream: number
  readonly nextCursor: string | undefined
  readonly progress: number
}

/** Exports as they are written down. */
export class ExportStore extends JobStore<ExportRow, ExportJob> {
  readonly #state: StateDatabase
  readonly #writer: StateWriter

  constructor(state: StateDatabase, writer: StateWriter) {
    const parts = (id: string) => state.deleteFrom('export_files').where('job_id', '=', id)
    super({ state, writer, table: 'export_jobs', jobOf: exportOf, parts })
    this.#state = state
    this.#writer = writer
  }

  /** A new job, and the change that stores it: it finds nothing to change where there is no room. */
  plan(
    { ownerId, apiKeyId }: JobMaker,
    request: ExportRequest,
    createdAtUs: number,
  ): { readonly job: ExportJob; readonly changes: readonly Compilable[] } {
    const row: ExportRow = {
      id: newId<ExportId>(),
      owner_id: ownerId,
      created_at: createdAtUs,
      created_by: apiKeyId,
      state: 'queued',
      request: JSON.stringify(request),
      rows: 0,
      bytes: 0,
      progress: 0,
      next_stream: 0,
      next_cursor: null,
      started_at: null,
      finished_at: null,
      error: null,
      message: null,
    }
    const names = Object.keys(row) as (keyof ExportRow)[]
    const values = sql.join(names.map((name) => sql`${row[name]}`))
    const insert = this.#state
      .insertInto('export_jobs')
      .columns(names)
      .expression(sql`SELECT ${values} WHERE ${this.hasRoom(ownerId)}`)
    return { job: exportOf(row), changes: [insert] }
  }

  async files(id: ExportId): Promise<readonly ExportFile[]> {
    const rows = await this.#state
      .selectFrom('export_files')
      .select(['number', 'name', 'stream_id', 'rows', 'bytes', 'sha256'])
      .where('job_id', '=', id)
      .orderBy('number')
      .execute()
    return rows.map(({ stream_id: streamId, ...row }) => ({
      ...row,
      streamId: streamId as StreamId,
    }))
  }

  /** False when the job is not to go on. */
  async addFile(
    id: ExportId,
    { file, nextStream, nextCursor, progress }: FileDone,
  ): Promise<boolean> {
    const { streamId, ...row } = file
    const counts = sql`rows = rows + ${file.rows}, bytes = bytes + ${file.bytes}`
    const place = sql`next_stream = ${nextStream}, next_cursor = ${nextCursor ?? null}`
    return await this.#writer.attempt(
      this.changeOfRunning(id, sql`${counts}, ${place}, progress = ${progress}`),
      this.#state.insertInto('export_files').values({ ...row, stream_id: streamId, job_id: id }),
    )
  }
}

function exportOf(row: ExportRow): ExportJob {
  return {
    ...jobOf<ExportId>(row),
    request: JSON.parse(row.request) as ExportRequest,
    rows: row.rows,
    bytes: row.bytes,
    nextStream: row.next_stream,
    nextCursor: row.next_cursor ?? undefined,
  }
}
