/** A stream as far as what is received of it is counted. */
export interface CountedStream {
  readonly id: string
  /** Entries received in the portion that it was counted in last. */
  received: number
  /** The number of that portion. */
  portion: number
}

/**
 * What a portion has received of each stream. It is noted at the stream, which is at hand with each of its entries:
 * a map of thousands would be looked into with each of them.
 */
export class ReceivedCounts {
  readonly #portion: number
  readonly #streams: CountedStream[] = []

  /** @param portion a number that no portion before it had */
  constructor(portion: number) {
    this.#portion = portion
  }

  get streams(): number {
    return this.#streams.length
  }

  add(stream: CountedStream, entries: number): void {
    if (stream.portion !== this.#portion) {
      stream.portion = this.#portion
      stream.received = 0
      this.#streams.push(stream)
    }
    stream.received += entries
  }

  /** By id. A stream that was forgotten in the midst of the portion, for others, has two objects in it. */
  byId(): Map<string, number> {
    const counts = new Map<string, number>()
    for (const { id, received } of this.#streams) counts.set(id, (counts.get(id) ?? 0) + received)
    return counts
  }
}
