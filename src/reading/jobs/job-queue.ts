import type { UserId } from '../../core/ids.ts'

export interface QueuedJob {
  readonly id: string
  readonly ownerId: UserId
}

export interface JobQueueNeeds<Queued extends QueuedJob> {
  /** Jobs that run at once; of one owner there is one at a time. */
  readonly atOnceMax: number
  /** The oldest job that waits, of an owner who is not among these. */
  readonly next: (owners: readonly UserId[]) => Promise<Queued | undefined>
  /** Runs a job to its end, whatever that is, and writes down which. The signal ends it early. */
  readonly run: (job: Queued, signal: AbortSignal) => Promise<void>
  /** Called with a failure that neither the job nor its owner can do anything about. */
  readonly onFailure: (error: unknown) => void
}

/** Time to the next look after a failure to look, or to write down how a job has ended. */
const retryMs = 5_000

interface Running {
  readonly owner: UserId
  readonly stopping: AbortController
  readonly done: Promise<void>
}

/**
 * Runs jobs that are written down elsewhere, some at a time. It holds nothing but those that run, so a
 * restart goes on with what is written down.
 */
export class JobQueue<Queued extends QueuedJob> {
  readonly #needs: JobQueueNeeds<Queued>
  readonly #running = new Map<string, Running>()
  #looking: Promise<void> | undefined
  #isWanted = false
  #isStopped = false
  #timer: NodeJS.Timeout | undefined

  constructor(needs: JobQueueNeeds<Queued>) {
    this.#needs = needs
  }

  get running(): number {
    return this.#running.size
  }

  /** To be called at the start, and whenever a job may have begun to wait. */
  wake(): void {
    if (this.#isStopped) return
    this.#isWanted = true
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#retry(error))
      .finally(() => {
        this.#looking = undefined
        if (this.#isWanted) this.wake()
      })
  }

  /** Ends a job that runs; that it is not to run was written down before. Resolves when it has ended. */
  async end(id: string): Promise<void> {
    const running = this.#running.get(id)
    running?.stopping.abort()
    await running?.done
  }

  /** Ends all that run, as they are: a later start goes on with them. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#isWanted = false
    clearTimeout(this.#timer)
    await this.#looking
    await Promise.all([...this.#running.keys()].map((id) => this.end(id)))
  }

  async #look(): Promise<void> {
    this.#isWanted = false
    while (!this.#isStopped && this.#running.size < this.#needs.atOnceMax) {
      const owners = [...this.#running.values()].map(({ owner }) => owner)
      const job = await this.#needs.next(owners)
      if (job === undefined || this.#isStopped) return
      this.#start(job)
    }
  }

  #start(job: Queued): void {
    const stopping = new AbortController()
    const done = this.#needs.run(job, stopping.signal).then(
      () => this.#leave(job),
      (error: unknown) => {
        this.#running.delete(job.id)
        this.#retry(error)
      },
    )
    this.#running.set(job.id, { owner: job.ownerId, stopping, done })
  }

  #leave({ id }: Queued): void {
    this.#running.delete(id)
    this.wake()
  }

  #retry(error: unknown): void {
    this.#needs.onFailure(error)
    if (this.#isStopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.wake(), retryMs).unref()
  }
}
