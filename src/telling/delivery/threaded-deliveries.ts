import type { MessagePort, Worker } from 'node:worker_threads'
import { Caller } from '../../core/threads/rpc.ts'
import { threadFailure } from '../../core/threads/start-thread.ts'
import type {
  ChangedReceivers,
  DeliveryFigures,
  DeliveryProcedures,
} from './delivery-procedures.ts'

interface Running {
  readonly thread: Worker
  readonly caller: Caller<DeliveryProcedures>
}

/**
 * The network thread's side of the thread that delivers. It starts with the first receiver: a
 * service that nobody listens to has no memory to spare for it.
 */
export class ThreadedDeliveries {
  readonly #start: () => Worker
  readonly #failed = Promise.withResolvers<never>()
  #running: Running | undefined

  constructor(start: () => Worker) {
    this.#start = start
    // Whoever wants to know awaits the promise; nobody waiting is no fault.
    this.failed.catch(() => undefined)
  }

  /** Rejects when the thread ends by an error of its own. */
  get failed(): Promise<never> {
    return this.#failed.promise
  }

  /** Once it resolves, no attempt begins that goes by what these receivers were before. */
  async changed(changed: ChangedReceivers): Promise<void> {
    await this.run().caller.call('changed', changed)
  }

  /** Undefined while it does not run. */
  async stats(): Promise<DeliveryFigures | undefined> {
    return await this.#running?.caller.call('stats', undefined)
  }

  async stop(): Promise<void> {
    if (!this.#running) return
    const { thread, caller } = this.#running
    await caller.call('stop', undefined)
    await thread.terminate()
  }

  /** Starts the thread, unless it runs. */
  run(): Running {
    this.#running ??= this.#begin()
    return this.#running
  }

  #begin(): Running {
    const thread = this.#start()
    const caller = new Caller<DeliveryProcedures>(thread as unknown as MessagePort)
    threadFailure(thread).catch(this.#failed.reject)
    thread.once('exit', () => caller.close())
    return { thread, caller }
  }
}
