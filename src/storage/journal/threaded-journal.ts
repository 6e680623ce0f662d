import type { MessagePort, Worker } from 'node:worker_threads'
import { Caller } from '../../core/threads/rpc.ts'
import { startThread, threadFailure } from '../../core/threads/start-thread.ts'
import type {
  JournalProcedures,
  JournalThreadData,
} from '../../processes/journal/journal-thread.ts'
import type { Journal, JournalStatus, Offset } from './journal.ts'

/** The journal in a SQLite file, written by a thread of its own. */
export class ThreadedJournal implements Journal {
  readonly #thread: Worker
  readonly #caller: Caller<JournalProcedures>

  /** Rejects when the thread ends by an error of its own: then nothing more can be accepted. */
  readonly failed: Promise<never>

  private constructor(thread: Worker) {
    this.#thread = thread
    this.#caller = new Caller<JournalProcedures>(thread as unknown as MessagePort)
    this.failed = threadFailure(thread)
    thread.once('exit', () => this.#caller.close())
  }

  /** Opens the file and recovers it; resolves when the journal is ready to accept. */
  static async open(data: JournalThreadData): Promise<ThreadedJournal> {
    const thread = startThread(import.meta.url, '../../processes/journal/journal-thread', {
      workerData: data,
      transferList: data.followers,
    })
    const journal = new ThreadedJournal(thread)
    await Promise.race([journal.status(), journal.failed])
    return journal
  }

  append(bytes: Uint8Array<ArrayBuffer>, count: number): Promise<Offset> {
    return this.#caller.call('append', { bytes, count }, [bytes.buffer])
  }

  trim(below: Offset): Promise<void> {
    return this.#caller.call('trim', below)
  }

  status(): Promise<JournalStatus> {
    return this.#caller.call('status', undefined)
  }

  async close(): Promise<void> {
    await this.#caller.call('close', undefined)
    await this.#thread.terminate()
  }
}
