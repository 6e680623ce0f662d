import type { Journal, JournalStatus, Offset } from '../../src/storage/journal/journal.ts'
import type { SqliteJournalFile } from '../../src/storage/journal/sqlite-journal.ts'

/** What the writer of a batch that is in the file is notified of: that it is kept, at once or later, or that it is not. */
export type Outcome = 'kept' | 'later' | 'refused'

/** A journal whose batches are read before their writer knows what has become of them. */
export class UnsettledJournal implements Journal {
  outcome: Outcome = 'kept'
  readonly #file: SqliteJournalFile
  #later: PromiseWithResolvers<void> | undefined

  constructor(file: SqliteJournalFile) {
    this.#file = file
  }

  async append(bytes: Uint8Array<ArrayBuffer>, count: number): Promise<Offset> {
    const offset = this.#file.append(bytes, count)
    // As a thread that it goes to would take it away.
    bytes.buffer.transfer()
    if (this.outcome === 'refused') throw new Error('the file has gone, and is back')
    if (this.outcome === 'later') {
      this.#later = Promise.withResolvers()
      await this.#later.promise
    }
    return offset
  }

  /** Notifies the writer of the last batch. */
  async settle(): Promise<void> {
    this.#later?.resolve()
    this.#later = undefined
    await new Promise(setImmediate)
  }

  async trim(below: Offset): Promise<void> {
    this.#file.trim(below)
  }

  async status(): Promise<JournalStatus> {
    return this.#file.status()
  }
}
