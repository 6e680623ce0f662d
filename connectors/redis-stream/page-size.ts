/** Entries, and bytes, of one answer: entries may be of any size, and are counted before they come. */
const entriesMax = 500
const bytesWanted = 1024 * 1024
const entriesAtFirst = 10

/** How many entries are asked for at once: twice as many each time, as long as they are small. */
export class PageSize {
  #entries = entriesAtFirst
  /**
   * Entries of a page: fewer where an answer was too large, and then a few more with each that is
   * not.
   */
  #most = entriesMax

  get entries(): number {
    return this.#entries
  }

  /** What the last answer was. */
  saw(entries: number, bytes: number): void {
    if (entries === 0) return
    const fitting = Math.floor(bytesWanted / Math.max(1, bytes / entries))
    this.#most = Math.min(this.#most + 1, entriesMax)
    this.#entries = Math.max(1, Math.min(this.#entries * 2, fitting, this.#most))
  }

  /** The last answer was too large. */
  beginAnew(): void {
    this.#most = Math.max(1, Math.floor(this.#entries / 4))
    this.#entries = 1
  }
}
