/**
 * Something there is so much of, shared by users who may want all of it. Each may have as much as would then
 * be left over, so however many want all they can get, there is something for who comes next: one user
 * gets a half at most, two get a third each.
 */
export class FairShare {
  readonly #max: number
  readonly #ofUserMax: number
  readonly #ofUsers = new Map<string, number>()
  #total = 0

  constructor(max: number, ofUserMax = max) {
    this.#max = max
    this.#ofUserMax = ofUserMax
  }

  get total(): number {
    return this.#total
  }

  /** How much more a user may have now. */
  roomFor(userId: string): number {
    const own = this.#ofUsers.get(userId) ?? 0
    const left = this.#max - this.#total
    return Math.max(0, Math.min(this.#ofUserMax - own, Math.ceil((left - own) / 2)))
  }

  add(userId: string, count: number): void {
    if (count === 0) return
    this.#total += count
    this.#ofUsers.set(userId, (this.#ofUsers.get(userId) ?? 0) + count)
  }

  remove(userId: string, count: number): void {
    const rest = (this.#ofUsers.get(userId) ?? 0) - count
    this.#total -= count
    if (rest > 0) this.#ofUsers.set(userId, rest)
    else this.#ofUsers.delete(userId)
  }
}
