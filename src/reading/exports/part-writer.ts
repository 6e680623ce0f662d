import type { MessagePort, Worker } from 'node:worker_threads'
import { Caller } from '../../core/threads/rpc.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import type { PartPlan, WrittenPart } from './part-file.ts'
import type { PartProcedures } from './part-thread.ts'

/** This thread's side of one that writes files: it lives as long as a job runs. */
export class PartWriter {
  readonly #thread: Worker
  readonly #caller: Caller<PartProcedures>

  constructor() {
    this.#thread = startThread(import.meta.url, './part-thread', { workerData: undefined })
    this.#caller = new Caller<PartProcedures>(this.#thread as unknown as MessagePort)
    // Whoever waits for an answer is told; there is nobody else to tell.
    this.#thread.once('error', (error) => this.#caller.close(error))
    this.#thread.once('exit', () => this.#caller.close())
  }

  async begin(plan: PartPlan): Promise<void> {
    await this.#caller.call('begin', plan)
  }

  /** The memory of the lines goes over to the thread. @throws DomainError `disk_full` */
  async write(lines: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#caller.call('write', lines, [lines.buffer])
  }

  /** Resolves when the part is on disk under its name. @throws DomainError `disk_full` */
  async finish(): Promise<WrittenPart> {
    return await this.#caller.call('finish', undefined)
  }

  async drop(): Promise<void> {
    await this.#caller.call('drop', undefined)
  }

  /** SHA-256 of a file, in hex; undefined when there is none. */
  async digest(path: string): Promise<string | undefined> {
    return await this.#caller.call('digest', path)
  }

  async close(): Promise<void> {
    await this.#thread.terminate()
  }
}
