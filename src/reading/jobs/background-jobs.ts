import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import { failureOf, type Job } from './job.ts'
import { JobQueue } from './job-queue.ts'
import type { JobStore } from './job-store.ts'
import { stubbornly } from './patience.ts'

/** Jobs that are removed together, and that are looked up together. */
const purgedMax = 50
const lookedUpMax = 500

/** One run of a job. */
export interface JobRun {
  /** Progress from 0 to 1, with what is not written down yet. */
  readonly progress: number
  /**
   * Resolves with whether everything is done; false when it was told to end before.
   *
   * @throws DomainError why the job cannot go on
   */
  run(): Promise<boolean>
  /** Called when it was written down that everything is done. */
  completed?(): Promise<void>
  /** Called once, however the run has ended. */
  close(): Promise<void>
}

/** What jobs are written down in. */
type StoredJobs<Stored extends Job> = Pick<
  JobStore<never, Stored>,
  | 'begin'
  | 'cancel'
  | 'complete'
  | 'expired'
  | 'fail'
  | 'find'
  | 'known'
  | 'next'
  | 'remove'
  | 'requeue'
  | 'resume'
  | 'waiting'
>

export interface BackgroundJobsNeeds<Stored extends Job> {
  readonly store: StoredJobs<Stored>
  readonly open: (job: Stored, signal: AbortSignal) => JobRun
  /** Where each job has a folder of its own. */
  readonly folder: string
  readonly atOnceMax: number
  readonly clock: Clock
  /** Called with a fault of the service. */
  readonly onFailure: (error: unknown) => void
}

/** Jobs of one kind: those that are written down are run, also after a restart, until they end. */
export class BackgroundJobs<Stored extends Job> {
  readonly #needs: BackgroundJobsNeeds<Stored>
  readonly #queue: JobQueue<Stored>
  readonly #runs = new Map<string, JobRun>()
  #failed = 0
  #waiting = 0

  constructor(needs: BackgroundJobsNeeds<Stored>) {
    const { atOnceMax, onFailure } = needs
    this.#needs = needs
    this.#queue = new JobQueue<Stored>({
      atOnceMax,
      next: (owners) => this.#next(owners),
      run: (job, signal) => this.#run(job, signal),
      onFailure,
    })
  }

  get running(): number {
    return this.#queue.running
  }

  /** Jobs that waited when it was last looked for one. */
  get waiting(): number {
    return this.#waiting
  }

  /** Jobs that have failed since the start. */
  get failed(): number {
    return this.#failed
  }

  /** Goes on with what ran when the service stopped, and removes files that no job is known of. */
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

  /** To be called when a job was made. */
  wake(): void {
    this.#queue.wake()
  }

  /** A job of this owner as it is now. */
  async find(ownerId: UserId, id: string): Promise<Stored | undefined> {
    const job = await this.#needs.store.find(ownerId, id)
    return job && this.asItIs(job)
  }

  /** How far a running job is says its run, which writes that down now and then only. */
  asItIs(job: Stored): Stored {
    const run = job.state === 'running' ? this.#runs.get(job.id) : undefined
    return run === undefined ? job : { ...job, progress: Math.max(job.progress, run.progress) }
  }

  /** Ends a job that waits or runs. What it has finished stays. */
  async cancel(ownerId: UserId, id: string): Promise<void> {
    const { store, clock } = this.#needs
    if (await store.cancel(ownerId, id, clock.nowUs())) await this.#queue.end(id)
  }

  /** Lets a job that has failed or was cancelled go on. */
  async resume(ownerId: UserId, id: string): Promise<void> {
    if (await this.#needs.store.resume(ownerId, id)) this.wake()
  }

  /** Removes a job, in whichever state, with its files; false when there is none. */
  async remove(ownerId: UserId, id: string): Promise<boolean> {
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

  /** The path of a file of a job; undefined when it is not there. */
  pathOf(id: string, name: string): string | undefined {
    const path = join(this.#needs.folder, id, name)
    return existsSync(path) ? path : undefined
  }

  /** Ends all that run, as they are: a later start goes on with them. */
  async stop(): Promise<void> {
    await this.#queue.stop()
  }

  async #next(owners: readonly UserId[]): Promise<Stored | undefined> {
    const { store } = this.#needs
    const job = await store.next(owners)
    this.#waiting = await store.waiting()
    return job
  }

  async #run(queued: Stored, signal: AbortSignal): Promise<void> {
    const { store, clock, onFailure } = this.#needs
    if (!(await store.begin(queued.id, clock.nowUs()))) return
    // The job is found as it is now: another run may have ended since it was looked up.
    const find = () => store.find(queued.ownerId, queued.id)
    const job = await stubbornly(find, signal, onFailure)
    if (job === undefined) return
    let run: JobRun | undefined
    try {
      run = this.#open(job, signal)
      if (await run.run()) await this.#complete(job, run, signal)
    } catch (error) {
      if (!signal.aborted) await this.#fail(job, error, signal)
    } finally {
      this.#runs.delete(job.id)
      await run?.close()
    }
  }

  #open(job: Stored, signal: AbortSignal): JobRun {
    const run = this.#needs.open(job, signal)
    this.#runs.set(job.id, run)
    return run
  }

  /**
   * Completes a job. Until it is written down, nothing else can be done with the job: a row that
   * says `running` is nobody's.
   */
  async #complete({ id }: Stored, run: JobRun, signal: AbortSignal): Promise<void> {
    const { store, clock, onFailure } = this.#needs
    const write = async () => {
      await store.complete(id, clock.nowUs())
      return true
    }
    if (!(await stubbornly(write, signal, onFailure))) return
    await run.completed?.()
  }

  async #fail({ id }: Stored, error: unknown, signal: AbortSignal): Promise<void> {
    const { store, clock, onFailure } = this.#needs
    const failure = failureOf(error)
    if (failure.error === 'internal_error') onFailure(error)
    this.#failed++
    await stubbornly(() => store.fail(id, failure, clock.nowUs()), signal, onFailure)
  }

  async #removeFolder(name: string): Promise<void> {
    await rm(join(this.#needs.folder, name), { recursive: true, force: true })
  }
}
