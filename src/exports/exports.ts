import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../core/clock.ts'
import type { ExportId, UserId } from '../core/ids.ts'
import { failureOf, openStates, resumableStates } from '../jobs/job.ts'
import { JobQueue } from '../jobs/job-queue.ts'
import type { StateWriter } from '../state/database.ts'
import type { ExportJob } from './export-job.ts'
import { assertSpace, ExportRun, type ExportRunNeeds } from './export-run.ts'
import { PartWriter } from './part-writer.ts'

/** Jobs that run at once: each has a thread, and asks the store for one chunk at a time. */
const runningMax = 2

/** Jobs that are removed together, and that are looked up together. */
const purgedMax = 50
const lookedUpMax = 500

export interface ExportsNeeds extends ExportRunNeeds {
  readonly writer: StateWriter
  readonly clock: Clock
  readonly onFailure: (error: unknown) => void
}

/** Writes stored readings into files, in the background: see docs/export-import.md. */
export class Exports {
  readonly #needs: ExportsNeeds
  readonly #queue: JobQueue<ExportJob>
  readonly #runs = new Map<ExportId, ExportRun>()
  #failed = 0

  constructor(needs: ExportsNeeds) {
    this.#needs = needs
    this.#queue = new JobQueue<ExportJob>({
      atOnceMax: runningMax,
      next: (owners) => needs.store.next(owners),
      run: (job, signal) => this.#run(job, signal),
      onFailure: needs.onFailure,
    })
  }

  get running(): number {
    return this.#queue.running
  }

  /** Jobs that have failed since the start. */
  get failed(): number {
    return this.#failed
  }

  /** Goes on with what ran when the service stopped, and removes what no job is known of. */
  async start(): Promise<void> {
    const { folder, store } = this.#needs
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const names = readdirSync(folder)
    while (names.length > 0) {
      const some = names.splice(-lookedUpMax)
      const known = await store.known(some)
      for (const name of some) if (!known.has(name)) await this.#removeFolder(name)
    }
    await store.requeue()
    this.wake()
  }

  /** @throws DomainError `disk_full` when a new job would have no space */
  async assertSpace(ownerId: UserId): Promise<void> {
    await assertSpace(this.#needs, ownerId)
  }

  /** To be called when a job was made. */
  wake(): void {
    this.#queue.wake()
  }

  /** A job of this owner as it is now. */
  async find(ownerId: UserId, id: ExportId): Promise<ExportJob | undefined> {
    const job = await this.#needs.store.find(ownerId, id)
    return job && this.asItIs(job)
  }

  /** How far a running job is says its run, which writes that down with each file only. */
  asItIs(job: ExportJob): ExportJob {
    const run = job.state === 'running' ? this.#runs.get(job.id) : undefined
    return run === undefined ? job : { ...job, progress: Math.max(job.progress, run.progress) }
  }

  /** Ends a job that waits or runs. Its finished files stay. */
  async cancel(ownerId: UserId, id: ExportId): Promise<void> {
    const { store, writer, clock } = this.#needs
    const move = { from: openStates, to: 'cancelled', nowUs: clock.nowUs() } as const
    if (await writer.attempt(store.move(ownerId, id, move))) await this.#queue.end(id)
  }

  /** Lets a job that has failed or was cancelled go on. */
  async resume(ownerId: UserId, id: ExportId): Promise<void> {
    const { store, writer, clock } = this.#needs
    const move = { from: resumableStates, to: 'queued', nowUs: clock.nowUs() } as const
    if (await writer.attempt(store.move(ownerId, id, move))) this.wake()
  }

  /** Removes a job, in whichever state, with its files; false when there is none. */
  async remove(ownerId: UserId, id: ExportId): Promise<boolean> {
    if (!(await this.#needs.store.remove(ownerId, id))) return false
    await this.#queue.end(id)
    await this.#removeFolder(id)
    return true
  }

  /** Removes some of what is kept no longer. Resolves with whether there may be more. */
  async purge(): Promise<boolean> {
    const { store, clock } = this.#needs
    const expired = await store.expired(clock.nowUs(), purgedMax)
    for (const { ownerId, id } of expired) await this.remove(ownerId, id)
    return expired.length === purgedMax
  }

  /** The path of a finished file; undefined when it is not there. */
  pathOf(id: ExportId, name: string): string | undefined {
    const path = join(this.#needs.folder, id, name)
    return existsSync(path) ? path : undefined
  }

  /** Ends all that run, as they are: a later start goes on with them. */
  async stop(): Promise<void> {
    await this.#queue.stop()
  }

  async #run(queued: ExportJob, signal: AbortSignal): Promise<void> {
    const { store, clock, onFailure } = this.#needs
    if (!(await store.begin(queued.id, clock.nowUs()))) return
    const writer = new PartWriter()
    // As it is now: another run may have ended since it was looked up.
    const job = (await store.find(queued.ownerId, queued.id)) ?? queued
    const run = new ExportRun(this.#needs, job, { writer, signal })
    this.#runs.set(job.id, run)
    try {
      if (await run.run()) await store.complete(job.id, clock.nowUs())
    } catch (error) {
      if (signal.aborted) return
      const failure = failureOf(error)
      if (failure.error === 'internal_error') onFailure(error)
      this.#failed++
      await store.fail(job.id, failure, clock.nowUs())
    } finally {
      this.#runs.delete(job.id)
      await writer.close()
    }
  }

  async #removeFolder(name: string): Promise<void> {
    await rm(join(this.#needs.folder, name), { recursive: true, force: true })
  }
}
