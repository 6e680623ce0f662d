/**
 * Counts of the last so many slots of time, which are numbered on and on. What is older than that is forgotten, and
 * what is counted of it late as well.
 */
export class SlotRing {
  readonly #counts: Uint32Array
  /** The newest slot. */
  #head = 0

  constructor(slots: number) {
    this.#counts = new Uint32Array(slots)
  }

  add(slot: number, count: number): void {
    this.#turn(slot)
    const { length } = this.#counts
    if (slot <= this.#head - length) return
    const at = slot % length
    this.#counts[at] = (this.#counts[at] ?? 0) + count
  }

  /** The counts of all slots up to this one, the oldest first. */
  upTo(slot: number): readonly number[] {
    this.#turn(slot)
    const { length } = this.#counts
    const first = slot - length + 1
    return Array.from({ length }, (_, index) => this.#counts[(first + index) % length] ?? 0)
  }

  /** Whether nothing was counted in any slot up to this one. */
  isEmpty(slot: number): boolean {
    this.#turn(slot)
    return this.#counts.every((count) => count === 0)
  }

  #turn(slot: number): void {
    const { length } = this.#counts
    if (slot - this.#head >= length) this.#counts.fill(0)
    else for (let next = this.#head + 1; next <= slot; next++) this.#counts[next % length] = 0
    this.#head = Math.max(this.#head, slot)
  }
}
