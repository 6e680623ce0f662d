import type { Journal, JournalStatus, Offset } from '../../storage/journal/journal.ts'
import type { StreamNews } from './stream-news.ts'

/** The journal as it is, with a note of the batches that it has taken for those who follow streams. */
export class NotingJournal implements Journal {
  readonly #journal: Journal
  readonly #news: StreamNews

  constructor(journal: Journal, news: StreamNews) {
    this.#journal = journal
    this.#news = news
  }

  async append(bytes: Uint8Array<ArrayBuffer>, count: number): Promise<Offset> {
    const { byteLength } = bytes
    // Before, as the memory is given up.
    const lookedAt = this.#news.look(bytes)
    const firstOffset = await this.#journal.append(bytes, count)
    // Before its senders know of it: who is acknowledged and follows then begins behind it.
    this.#news.note({ firstOffset, end: firstOffset + count, byteLength }, lookedAt)
    return firstOffset
  }

  trim(below: Offset): Promise<void> {
    return this.#journal.trim(below)
  }

  status(): Promise<JournalStatus> {
    return this.#journal.status()
  }
}
