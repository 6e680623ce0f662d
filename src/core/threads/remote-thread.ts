import type { MessagePort, Worker } from 'node:worker_threads'
import { Caller, type Remote } from './rpc.ts'
import { threadFailure } from './start-thread.ts'

/** A thread, as whoever has started it sees it: what it can be asked, and whether it has failed. */
export class RemoteThread<Table extends object> {
  readonly #thread: Worker
  readonly #caller: Caller<Table>
  /** Rejects when the thread ends by an error of its own, or tells of one that nothing in it was waiting for. */
  readonly failed: Promise<never>

  constructor(thread: Worker) {
    this.#thread = thread
    // A worker has all of a port but its methods to close it.
    this.#caller = new Caller<Table>(thread as unknown as MessagePort)
    this.failed = threadFailure(thread)
    // `on`, because a thread may tell of more than one, and one that nobody listens to ends the process.
    thread.on('error', (error) => this.#caller.close(error))
    thread.once('exit', () => this.#caller.close())
  }

  /** Asks the thread. Once it has ended, every open and later call is rejected. */
  get calls(): Remote<Table> {
    return this.#caller.calls
  }

  /** Resolves when the thread has ended, whatever it was doing. */
  async terminate(): Promise<void> {
    await this.#thread.terminate()
  }
}
