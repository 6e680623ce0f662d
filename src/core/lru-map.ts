/** What the values of a map weigh: in characters, bytes, whatever they are counted by. */
export interface Weighing<Value> {
  readonly of: (value: Value) => number
  /** The most that all values may weigh together; a single one may be heavier. */
  readonly max: number
}

/**
 * A map that forgets what was used least recently once it holds more than `entriesMax` entries, or
 * they are heavier than they may be.
 */
export class LruMap<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #entriesMax: number
  readonly #weighing: Weighing<Value> | undefined
  readonly #onGone: ((value: Value) => void) | undefined
  #weight = 0

  /** @param onGone told of each value that is in the map no more, for whatever reason */
  constructor(entriesMax: number, weighing?: Weighing<Value>, onGone?: (value: Value) => void) {
    this.#entriesMax = entriesMax
    this.#weighing = weighing
    this.#onGone = onGone
  }

  get size(): number {
    return this.#entries.size
  }

  /** The weight of all values, where they are weighed. */
  get weight(): number {
    return this.#weight
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    // Re-inserting moves an entry to the young end. Below half of the limits nothing is about to be
    // forgotten, and a hit costs a look-up only: the order is approximate in return.
    if (this.#isHalfFull()) {
      this.#entries.delete(key)
      this.#entries.set(key, value)
    }
    return value
  }

  set(key: Key, value: Value): void {
    this.delete(key)
    this.#entries.set(key, value)
    if (this.#weighing) this.#weight += this.#weighing.of(value)
    for (const oldest of this.#entries.keys()) {
      if (!this.#isTooFull() || oldest === key) return
      this.delete(oldest)
    }
  }

  delete(key: Key): void {
    const value = this.#entries.get(key)
    if (value === undefined) return
    this.#entries.delete(key)
    if (this.#weighing) this.#weight -= this.#weighing.of(value)
    this.#onGone?.(value)
  }

  clear(): void {
    if (this.#onGone) for (const value of this.#entries.values()) this.#onGone(value)
    this.#entries.clear()
    this.#weight = 0
  }

  #isHalfFull(): boolean {
    if (this.#entries.size * 2 > this.#entriesMax) return true
    return this.#weighing !== undefined && this.#weight * 2 > this.#weighing.max
  }

  #isTooFull(): boolean {
    if (this.#entries.size > this.#entriesMax) return true
    return this.#weighing !== undefined && this.#weight > this.#weighing.max
  }
}
