import type { MessagePort, Worker } from 'node:worker_threads'
import { Caller } from '../threads/rpc.ts'
import { threadFailure } from '../threads/start-thread.ts'
import type { DeliveryStats } from './deliverer.ts'
import type { DeliveryProcedures } from './delivery-procedures.ts'

/** The network thread's side of the thread that delivers. */
export class ThreadedDeliveries {
  readonly #thread: Worker
  readonly #caller: Caller<DeliveryProcedures>
  /** Rejects when the thread ends by an error of its own. */
  readonly failed: Promise<never>

  constructor(thread: Worker) {
    this.#thread = thread
    this.#caller = new Caller<DeliveryProcedures>(thread as unknown as MessagePort)
    this.failed = threadFailure(thread)
    thread.once('exit', () => this.#caller.close())
  }

  /** Once it resolves, no attempt begins that goes by what these webhooks were before. */
  async changed(webhookIds: readonly string[]): Promise<void> {
    await this.#caller.call('changed', webhookIds)
  }

  async stats(): Promise<DeliveryStats> {
    return await this.#caller.call('stats', undefined)
  }

  async stop(): Promise<void> {
    await this.#caller.call('stop', undefined)
    await this.#thread.terminate()
  }
}
