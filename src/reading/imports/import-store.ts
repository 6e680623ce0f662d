import { type Compilable, type Selectable, sql } from 'kysely'
import type { ImportId, StreamId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { type JobMaker, jobOf } from '../jobs/job.ts'
import { JobStore } from '../jobs/job-store.ts'
import type { ImportFormat, ImportJob, ImportPlace, RowRefusal } from './import-job.ts'

type ImportRow = Selectable<StateSchema['import_jobs']>

/** A file that waits to be imported. */
export interface ImportedFile {
  /** Names the folder of the file, too. */
  readonly id: ImportId
  readonly format: ImportFormat
  readonly bytes: number
  readonly sha256: string
}

/** What comes before the number of a row in the source of a quarantined reading. */
export function sourceOf(id: ImportId, row: number | ''): string {
  return `import ${id} row ${row}`
}

/** Imports as they are written down. */
export class ImportStore extends JobStore<ImportRow, ImportJob> {
  readonly #state: StateDatabase
  readonly #writer: StateWriter

  constructor(state: StateDatabase, writer: StateWriter) {
    super({ state, writer, table: 'import_jobs', jobOf: importOf })
    this.#state = state
    this.#writer = writer
  }

  /** A new job, and the change that stores it: it finds nothing to change where there is no room. */
  plan(
    { ownerId, apiKeyId }: JobMaker,
    { streamId, file }: { readonly streamId: StreamId; readonly file: ImportedFile },
    createdAtUs: number,
  ): { readonly job: ImportJob; readonly changes: readonly Compilable[] } {
    const row: ImportRow = {
      ...file,
      owner_id: ownerId,
      stream_id: streamId,
      created_at: createdAtUs,
      created_by: apiKeyId,
      state: 'queued',
      next_row: 0,
      accepted: 0,
      refused: 0,
      duplicates: 0,
      duplicates_before: null,
      progress: 0,
      refusals: '[]',
      started_at: null,
      finished_at: null,
      error: null,
      message: null,
    }
    const names = Object.keys(row) as (keyof ImportRow)[]
    const values = sql.join(names.map((name) => sql`${row[name]}`))
    const insert = this.#state
      .insertInto('import_jobs')
      .columns(names)
      .expression(sql`SELECT ${values} WHERE ${this.hasRoom(ownerId)}`)
    return { job: importOf(row), changes: [insert] }
  }

  /** Writes down, once, how many duplicates the stream had before. */
  async noteDuplicates(id: ImportId, before: number): Promise<void> {
    const set = sql`duplicates_before = coalesce(duplicates_before, ${before})`
    await this.#writer.commit(this.changeOfRunning(id, set))
  }

  /** False when the job is not to go on. */
  async move(id: ImportId, place: ImportPlace): Promise<boolean> {
    const counts = sql`accepted = ${place.accepted}, refused = ${place.refused}`
    const rest = sql`duplicates = ${place.duplicates}, refusals = ${JSON.stringify(place.refusals)}`
    const set = sql`next_row = ${place.nextRow}, ${counts}, ${rest}, progress = ${place.progress}`
    return await this.#writer.attempt(this.changeOfRunning(id, set))
  }

  /** The last row of an import that is in the quarantine of the stream; 0 when there is none. */
  async lastQuarantined({ id, streamId }: ImportJob): Promise<number> {
    const start = sourceOf(id, '')
    const rows = await this.#state
      .selectFrom('quarantine')
      .select('source')
      .where('stream_id', '=', streamId)
      .where('source', 'like', `${start}%`)
      .execute()
    return Math.max(0, ...rows.map(({ source }) => Number(source.slice(start.length))))
  }
}

function importOf(row: ImportRow): ImportJob {
  return {
    ...jobOf<ImportId>(row),
    streamId: row.stream_id as StreamId,
    format: row.format as ImportFormat,
    bytes: row.bytes,
    sha256: row.sha256,
    nextRow: row.next_row,
    accepted: row.accepted,
    refused: row.refused,
    duplicates: row.duplicates,
    duplicatesBefore: row.duplicates_before ?? undefined,
    refusals: JSON.parse(row.refusals) as readonly RowRefusal[],
  }
}
