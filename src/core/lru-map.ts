/** A map that forgets what was used least recently once it holds `entriesMax` entries. */
export class LruMap<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #entriesMax: number

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    // Re-inserting moves an entry to the young end. Below half of the limit nothing is about to be
    // forgotten, and a hit costs a look-up only: the order is approximate in return.
    if (this.#entries.size * 2 > this.#entriesMax) {
      this.#entries.delete(key)
      this.#entries.set(key, value)
    }
    return value
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#entriesMax) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }
}
