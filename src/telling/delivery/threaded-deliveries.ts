import type { Worker } from 'node:worker_threads'
import { RemoteThread } from '../../core/threads/remote-thread.ts'
import type {
  ChangedReceivers,
  DeliveryFigures,
  DeliveryProcedures,
} from './delivery-procedures.ts'

/**
 * The network thread's side of the thread that delivers. It starts with the first receiver: a
 * service that nobody listens to has no memory to spare for it.
 */
export class ThreadedDeliveries {
  readonly #start: () => Worker
  readonly #failed = Promise.withResolvers<never>()
  #running: RemoteThread<DeliveryProcedures> | undefined

  constructor(start: () => Worker) {
    this.#start = start
    // Callers who want to know await the promise; nobody waiting is no fault.
    this.failed.catch(() => undefined)
  }

  /** Rejects when the thread ends by an error of its own. */
  get failed(): Promise<never> {
    return this.#failed.promise
  }

  /** Once it resolves, no attempt begins that goes by what these receivers were before. */
  async changed(changed: ChangedReceivers): Promise<void> {
    await this.run().calls.changed(changed)
  }

  /** Undefined while it does not run. */
  async stats(): Promise<DeliveryFigures | undefined> {
    return await this.#running?.calls.stats()
  }

  async stop(): Promise<void> {
    if (!this.#running) return
    await this.#running.calls.stop()
    await this.#running.terminate()
  }

  /** Starts the thread, unless it runs. */
  run(): RemoteThread<DeliveryProcedures> {
    this.#running ??= this.#begin()
    return this.#running
  }

  #begin(): RemoteThread<DeliveryProcedures> {
    const thread = new RemoteThread<DeliveryProcedures>(this.#start())
    thread.failed.catch(this.#failed.reject)
    return thread
  }
}
