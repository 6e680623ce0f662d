import { RemoteThread } from '../../core/threads/remote-thread.ts'
import { Moved } from '../../core/threads/rpc.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import type { PartPlan, WrittenPart } from './part-file.ts'
import type { PartProcedures } from './part-thread.ts'

/** This thread's side of one that writes files: it lives as long as a job runs. */
export class PartWriter {
  readonly #thread = new RemoteThread<PartProcedures>(
    startThread(import.meta.url, './part-thread', { workerData: undefined }),
  )

  async begin(plan: PartPlan): Promise<void> {
    await this.#thread.calls.begin(plan)
  }

  /** The memory of the lines goes over to the thread. @throws DomainError `disk_full` */
  async write(lines: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#thread.calls.write(new Moved(lines, [lines.buffer]))
  }

  /** Resolves when the part is on disk under its name. @throws DomainError `disk_full` */
  async finish(): Promise<WrittenPart> {
    return await this.#thread.calls.finish()
  }

  async drop(): Promise<void> {
    await this.#thread.calls.drop()
  }

  /** SHA-256 of a file, in hex; undefined when there is none. */
  async digest(path: string): Promise<string | undefined> {
    return await this.#thread.calls.digest(path)
  }

  async close(): Promise<void> {
    await this.#thread.terminate()
  }
}
