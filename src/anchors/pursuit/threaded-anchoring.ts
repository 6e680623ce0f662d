import type { Worker } from 'node:worker_threads'
import { RemoteThread } from '../../core/threads/remote-thread.ts'
import type { AnchoringProcedures } from './anchoring-procedures.ts'
import type { LaneFigures } from './lane-needs.ts'

/**
 * The network thread's side of the thread that anchors. It is started when there is something to anchor: a service
 * without anything has no memory to spare for it.
 */
export class ThreadedAnchoring {
  readonly #start: () => Worker
  readonly #failed = Promise.withResolvers<never>()
  #running: RemoteThread<AnchoringProcedures> | undefined
  #isWaking = false
  #isToWake = false

  constructor(start: () => Worker) {
    this.#start = start
    // Callers who want to know await the promise; nobody waiting is no fault.
    this.failed.catch(() => undefined)
  }

  /** Rejects when the thread ends by an error of its own. */
  get failed(): Promise<never> {
    return this.#failed.promise
  }

  /** Has it look for something to do. Many calls at once are two at most. */
  wake(): void {
    this.#running ??= this.#begin()
    if (this.#isWaking) {
      this.#isToWake = true
      return
    }
    this.#isWaking = true
    const again = () => {
      this.#isWaking = false
      if (!this.#isToWake) return
      this.#isToWake = false
      this.wake()
    }
    // One that has ended is told of by `failed`.
    this.#running.calls.wake().then(again, () => undefined)
  }

  /** Empty while it does not run. */
  async figures(): Promise<readonly LaneFigures[]> {
    return (await this.#running?.calls.figures()) ?? []
  }

  async stop(): Promise<void> {
    if (!this.#running) return
    await this.#running.calls.stop()
    await this.#running.terminate()
  }

  #begin(): RemoteThread<AnchoringProcedures> {
    const thread = new RemoteThread<AnchoringProcedures>(this.#start())
    thread.failed.catch(this.#failed.reject)
    return thread
  }
}
