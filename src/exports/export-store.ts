import { type Compilable, type Selectable, sql } from 'kysely'
import { type ExportId, newId, type StreamId, type UserId } from '../core/ids.ts'
import type { ListCursor } from '../core/list-cursor.ts'
import { type JobFailure, type JobState, jobOf, keptSinceUs, openStates } from '../jobs/job.ts'
import { optional, type StateDatabase, type StateWriter } from '../state/database.ts'
import type { StateSchema } from '../state/schema.ts'
import type { ExportFile, ExportJob, ExportRequest } from './export-job.ts'

/** Jobs of one user that are kept, and those of them that wait or run. */
export const keptOfUserMax = 100
export const openOfUserMax = 10

/** Jobs of all that wait or run. */
const openMax = 1_000

/** What of a job follows from a file that was finished. */
export interface FileDone {
  readonly file: ExportFile
  readonly nextStream: number
  readonly nextCursor: string | undefined
  readonly progress: number
}

/** Exports as they are written down. */
export class ExportStore {
  readonly #state: StateDatabase
  readonly #writer: StateWriter

  constructor(state: StateDatabase, writer: StateWriter) {
    this.#state = state
    this.#writer = writer
  }

  /** A new job, and the change that stores it: it finds nothing to change where there is no room. */
  plan(
    ownerId: UserId,
    request: ExportRequest,
    createdAtUs: number,
  ): { readonly job: ExportJob; readonly changes: readonly Compilable[] } {
    const id = newId<ExportId>()
    const text = JSON.stringify(request)
    const columns = ['id', 'owner_id', 'created_at', 'state', 'request'] as const
    const insert = this.#state
      .insertInto('export_jobs')
      .columns([...columns, 'rows', 'bytes', 'progress', 'next_stream'])
      .expression(
        sql`SELECT ${id}, ${ownerId}, ${createdAtUs}, 'queued', ${text}, 0, 0, 0, 0
              WHERE ${this.#count(openMax)}
                AND ${this.#count(openOfUserMax, ownerId)}
                AND (SELECT count(*) FROM export_jobs WHERE owner_id = ${ownerId}) < ${keptOfUserMax}`,
      )
    const job = {
      id,
      ownerId,
      createdAtUs,
      state: 'queued' as const,
      progress: 0,
      startedAtUs: undefined,
      finishedAtUs: undefined,
      failure: undefined,
      request,
      rows: 0,
      bytes: 0,
      nextStream: 0,
      nextCursor: undefined,
    }
    return { job, changes: [insert] }
  }

  async find(ownerId: UserId, id: ExportId): Promise<ExportJob | undefined> {
    const row = await this.#state
      .selectFrom('export_jobs')
      .selectAll()
      .where('id', '=', id)
      .where('owner_id', '=', ownerId)
      .executeTakeFirst()
    return row && exportOf(row)
  }

  /** In the order in which they were made. */
  async list(
    ownerId: UserId,
    { after, limit }: { readonly after: ListCursor | undefined; readonly limit: number },
  ): Promise<readonly ExportJob[]> {
    let query = this.#state.selectFrom('export_jobs').selectAll().where('owner_id', '=', ownerId)
    if (after) {
      query = query.where((where) =>
        where(where.refTuple('created_at', 'id'), '>', where.tuple(after.createdAtUs, after.id)),
      )
    }
    const rows = await query.orderBy('created_at').orderBy('id').limit(limit).execute()
    return rows.map(exportOf)
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

  /** Bytes that all exports of a user have. */
  async bytesOf(ownerId: UserId): Promise<number> {
    const row = await this.#state
      .selectFrom('export_jobs')
      .select(({ fn }) => fn.sum<number | null>('bytes').as('bytes'))
      .where('owner_id', '=', ownerId)
      .executeTakeFirstOrThrow()
    return row.bytes ?? 0
  }

  async waiting(): Promise<number> {
    const row = await this.#state
      .selectFrom('export_jobs')
      .select(({ fn }) => fn.countAll<number>().as('jobs'))
      .where('state', '=', 'queued')
      .executeTakeFirstOrThrow()
    return row.jobs
  }

  /** The oldest job that waits, of somebody else than these. */
  async next(owners: readonly UserId[]): Promise<ExportJob | undefined> {
    let query = this.#state.selectFrom('export_jobs').selectAll().where('state', '=', 'queued')
    if (owners.length > 0) query = query.where('owner_id', 'not in', owners)
    const row = await query.orderBy('created_at').orderBy('id').limit(1).executeTakeFirst()
    return row && exportOf(row)
  }

  /** What ran when the service stopped waits anew. */
  async requeue(): Promise<void> {
    await this.#writer.commit(
      this.#state
        .updateTable('export_jobs')
        .set({ state: 'queued' })
        .where('state', '=', 'running'),
    )
  }

  /** False when the job does not wait any more. */
  async begin(id: ExportId, nowUs: number): Promise<boolean> {
    return await this.#writer.attempt(
      this.#state
        .updateTable('export_jobs')
        .set({ state: 'running', started_at: sql<number>`coalesce(started_at, ${nowUs})` })
        .where('id', '=', id)
        .where('state', '=', 'queued'),
    )
  }

  /** False when the job is not to go on. */
  async addFile(id: ExportId, { file, nextStream, nextCursor, progress }: FileDone) {
    const { streamId, ...row } = file
    return await this.#writer.attempt(
      this.#running(id).set({
        rows: sql<number>`rows + ${file.rows}`,
        bytes: sql<number>`bytes + ${file.bytes}`,
        next_stream: nextStream,
        next_cursor: nextCursor ?? null,
        progress,
      }),
      this.#state.insertInto('export_files').values({ ...row, stream_id: streamId, job_id: id }),
    )
  }

  async complete(id: ExportId, nowUs: number): Promise<void> {
    const ended = { state: 'completed', progress: 1, finished_at: nowUs }
    await this.#writer.commit(this.#running(id).set(ended))
  }

  async fail(id: ExportId, failure: JobFailure, nowUs: number): Promise<void> {
    const ended = { state: 'failed', ...failure, finished_at: nowUs }
    await this.#writer.commit(this.#running(id).set(ended))
  }

  /** The change that moves a job of an owner from one of these states to another. */
  move(ownerId: UserId, id: ExportId, { from, to, nowUs }: Move): Compilable {
    const finishedAt = openStates.includes(to) ? null : nowUs
    return this.#state
      .updateTable('export_jobs')
      .set({ state: to, finished_at: finishedAt, error: null, message: null })
      .where('id', '=', id)
      .where('owner_id', '=', ownerId)
      .where('state', 'in', from)
  }

  /** False when there is no such job. */
  async remove(ownerId: UserId, id: ExportId): Promise<boolean> {
    return await this.#writer.attempt(
      this.#state.deleteFrom('export_jobs').where('id', '=', id).where('owner_id', '=', ownerId),
      optional(this.#state.deleteFrom('export_files').where('job_id', '=', id)),
    )
  }

  /** Jobs that nobody gets anything of any more: of long ago, or of users who are gone. */
  async expired(nowUs: number, limit: number): Promise<readonly ExportJob[]> {
    const gone = this.#state.selectFrom('users').select('id').where('deleted_at', 'is not', null)
    const rows = await this.#state
      .selectFrom('export_jobs')
      .selectAll()
      .where((where) =>
        where.or([where('finished_at', '<', keptSinceUs(nowUs)), where('owner_id', 'in', gone)]),
      )
      .limit(limit)
      .execute()
    return rows.map(exportOf)
  }

  /** Which of these there are. */
  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#state
      .selectFrom('export_jobs')
      .select('id')
      .where('id', 'in', ids)
      .execute()
    return new Set(rows.map(({ id }) => id))
  }

  #running(id: ExportId) {
    return this.#state
      .updateTable('export_jobs')
      .where('id', '=', id)
      .where('state', '=', 'running')
  }

  #count(limit: number, ownerId?: UserId) {
    const open = sql.join(openStates)
    const own = ownerId === undefined ? sql`` : sql`AND owner_id = ${ownerId}`
    return sql<boolean>`(SELECT count(*) FROM export_jobs WHERE state IN (${open}) ${own}) < ${limit}`
  }
}

export interface Move {
  readonly from: readonly JobState[]
  readonly to: JobState
  readonly nowUs: number
}

function exportOf(row: Selectable<StateSchema['export_jobs']>): ExportJob {
  return {
    ...jobOf<ExportId>(row),
    request: JSON.parse(row.request) as ExportRequest,
    rows: row.rows,
    bytes: row.bytes,
    nextStream: row.next_stream,
    nextCursor: row.next_cursor ?? undefined,
  }
}
