import { race } from '../../core/race.ts'
import { RemoteThread } from '../../core/threads/remote-thread.ts'
import { Moved } from '../../core/threads/rpc.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import type { Journal, JournalStatus, Offset } from './journal.ts'
import type { JournalProcedures, JournalThreadData } from './journal-contract.ts'

/** The journal in a SQLite file, written by a thread of its own. */
export class ThreadedJournal implements Journal {
  readonly #thread: RemoteThread<JournalProcedures>

  private constructor(thread: RemoteThread<JournalProcedures>) {
    this.#thread = thread
  }

  /** Opens the file and recovers it; resolves when the journal is ready to accept. */
  static async open(data: JournalThreadData): Promise<ThreadedJournal> {
    const thread = startThread(import.meta.url, '../../processes/journal/journal-thread', {
      workerData: data,
      transferList: data.followers,
    })
    const journal = new ThreadedJournal(new RemoteThread(thread))
    await race([journal.status(), journal.failed])
    return journal
  }

  /** Rejects when the thread ends by an error of its own: then nothing more can be accepted. */
  get failed(): Promise<never> {
    return this.#thread.failed
  }

  append(bytes: Uint8Array<ArrayBuffer>, count: number): Promise<Offset> {
    return this.#thread.calls.append(new Moved({ bytes, count }, [bytes.buffer]))
  }

  trim(below: Offset): Promise<void> {
    return this.#thread.calls.trim(below)
  }

  status(): Promise<JournalStatus> {
    return this.#thread.calls.status()
  }

  async close(): Promise<void> {
    await this.#thread.calls.close()
    await this.#thread.terminate()
  }
}
