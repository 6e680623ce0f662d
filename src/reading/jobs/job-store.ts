import { type Compilable, type RawBuilder, sql } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import type { ListCursor } from '../../core/list-cursor.ts'
import {
  optional,
  type StateDatabase,
  type StateWriter,
  written,
} from '../../storage/state/database.ts'
import {
  type Job,
  type JobFailure,
  type JobRow,
  type JobState,
  keptSinceUs,
  openStates,
  resumableStates,
} from './job.ts'

/** Jobs of one user that are kept, and those of them that wait or run. */
export const keptOfUserMax = 100
export const openOfUserMax = 10

/** Jobs of all that wait or run. */
const openMax = 1_000

export interface JobStoreNeeds<Row extends JobRow, Stored extends Job> {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly table: 'export_jobs' | 'import_jobs'
  readonly jobOf: (row: Row) => Stored
  /** What goes with a job that is removed. */
  readonly parts?: (id: string) => Compilable
}

/** Jobs of one kind as they are written down: what all kinds have in common. */
export class JobStore<Row extends JobRow, Stored extends Job> {
  readonly #needs: JobStoreNeeds<Row, Stored>

  constructor(needs: JobStoreNeeds<Row, Stored>) {
    this.#needs = needs
  }

  /** Whether there is room for another job: for the condition of the statement that adds it. */
  hasRoom(ownerId: UserId): RawBuilder<boolean> {
    const { table } = this
    const open = sql`SELECT count(*) FROM ${table} WHERE state IN (${sql.join(openStates)})`
    return sql<boolean>`(${open}) < ${openMax}
      AND (${open} AND owner_id = ${ownerId}) < ${openOfUserMax}
      AND (SELECT count(*) FROM ${table} WHERE owner_id = ${ownerId}) < ${keptOfUserMax}`
  }

  async find(ownerId: UserId, id: string): Promise<Stored | undefined> {
    const [job] = await this.#select(sql`id = ${id} AND owner_id = ${ownerId}`, 1)
    return job
  }

  /** Lists jobs in the order in which they were made. */
  async list(
    ownerId: UserId,
    { after, limit }: { readonly after: ListCursor | undefined; readonly limit: number },
  ): Promise<readonly Stored[]> {
    const behind = after ? sql`AND (created_at, id) > (${after.createdAtUs}, ${after.id})` : sql``
    return await this.#select(sql`owner_id = ${ownerId} ${behind}`, limit)
  }

  /** The oldest job that waits, of somebody else than these. */
  async next(owners: readonly UserId[]): Promise<Stored | undefined> {
    const others = owners.length > 0 ? sql`AND owner_id NOT IN (${sql.join(owners)})` : sql``
    const [job] = await this.#select(sql`state = 'queued' ${others}`, 1)
    return job
  }

  async waiting(): Promise<number> {
    const query = sql<{ jobs: number }>`SELECT count(*) AS jobs FROM ${this.table}
      WHERE state = 'queued'`
    const { rows } = await query.execute(this.#needs.state)
    return rows[0]?.jobs ?? 0
  }

  /** Bytes that all jobs of a user have which are not in one of these states. */
  async bytesOf(ownerId: UserId, without: readonly JobState[] = []): Promise<number> {
    const some = without.length > 0 ? sql`AND state NOT IN (${sql.join(without)})` : sql``
    const query = sql<{ bytes: number | null }>`SELECT sum(bytes) AS bytes FROM ${this.table}
      WHERE owner_id = ${ownerId} ${some}`
    const { rows } = await query.execute(this.#needs.state)
    return rows[0]?.bytes ?? 0
  }

  /** What ran when the service stopped waits anew. */
  async requeue(): Promise<void> {
    const change = this.#update(sql`state = 'queued'`, sql`state = 'running'`)
    await this.#needs.writer.commit(change)
  }

  /** False when the job does not wait any more. */
  async begin(id: string, nowUs: number): Promise<boolean> {
    const set = sql`state = 'running', started_at = coalesce(started_at, ${nowUs})`
    return await this.#needs.writer.attempt(this.#update(set, sql`id = ${id} AND state = 'queued'`))
  }

  async complete(id: string, nowUs: number): Promise<void> {
    const set = sql`state = 'completed', progress = 1, finished_at = ${nowUs}`
    await this.#needs.writer.commit(this.changeOfRunning(id, set))
  }

  async fail(id: string, { error, message }: JobFailure, nowUs: number): Promise<void> {
    const why = sql`error = ${error}, message = ${message}`
    const set = sql`state = 'failed', ${why}, finished_at = ${nowUs}`
    await this.#needs.writer.commit(this.changeOfRunning(id, set))
  }

  /** False when the owner has no such job that waits or runs. */
  async cancel(ownerId: UserId, id: string, nowUs: number): Promise<boolean> {
    const set = sql`state = 'cancelled', finished_at = ${nowUs}`
    return await this.#move(set, { ownerId, id, from: openStates })
  }

  /** False when the owner has no such job that has failed or was cancelled. */
  async resume(ownerId: UserId, id: string): Promise<boolean> {
    const set = sql`state = 'queued', finished_at = NULL, error = NULL, message = NULL`
    return await this.#move(set, { ownerId, id, from: resumableStates })
  }

  /** False when there is no such job. */
  async remove(ownerId: UserId, id: string): Promise<boolean> {
    const { writer, parts } = this.#needs
    return await writer.attempt(
      this.#change(sql`DELETE FROM ${this.table} WHERE id = ${id} AND owner_id = ${ownerId}`),
      ...(parts ? [optional(parts(id))] : []),
    )
  }

  /** Jobs that nobody gets anything of any more: of long ago, or of users who are gone. */
  async expired(nowUs: number, limit: number): Promise<readonly Stored[]> {
    const gone = sql`owner_id NOT IN (SELECT id FROM users WHERE deleted_at IS NULL)`
    return await this.#select(sql`finished_at < ${keptSinceUs(nowUs)} OR ${gone}`, limit)
  }

  /** Which of these there are. */
  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const query = sql<{ id: string }>`SELECT id FROM ${this.table} WHERE id IN (${sql.join(ids)})`
    const { rows } = await query.execute(this.#needs.state)
    return new Set(rows.map(({ id }) => id))
  }

  /** A change of a job that finds no row once the job is not to run any more. */
  changeOfRunning(id: string, set: RawBuilder<unknown>): Compilable {
    return this.#update(set, sql`id = ${id} AND state = 'running'`)
  }

  protected get table(): RawBuilder<unknown> {
    return sql.table(this.#needs.table)
  }

  async #select(condition: RawBuilder<unknown>, limit: number): Promise<readonly Stored[]> {
    const query = sql<Row>`SELECT * FROM ${this.table} WHERE ${condition}
      ORDER BY created_at, id LIMIT ${limit}`
    const { rows } = await query.execute(this.#needs.state)
    return rows.map(this.#needs.jobOf)
  }

  async #move(
    set: RawBuilder<unknown>,
    { ownerId, id, from }: { ownerId: UserId; id: string; from: readonly JobState[] },
  ): Promise<boolean> {
    const condition = sql`id = ${id} AND owner_id = ${ownerId} AND state IN (${sql.join(from)})`
    return await this.#needs.writer.attempt(this.#update(set, condition))
  }

  #update(set: RawBuilder<unknown>, condition: RawBuilder<unknown>): Compilable {
    return this.#change(sql`UPDATE ${this.table} SET ${set} WHERE ${condition}`)
  }

  #change(statement: RawBuilder<unknown>): Compilable {
    return written(this.#needs.state, statement)
  }
}
