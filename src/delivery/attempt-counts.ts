/** Attempts at a time, of all webhooks together and of those of one user. */
export const attemptsMax = 1_024
const attemptsOfUserMax = 256

/** Who has how many attempts under way: whose receivers all hang leaves room for the others. */
export class AttemptCounts {
  readonly #ofUser = new Map<string, number>()
  #total = 0

  hasRoom(ownerId: string): boolean {
    return this.#total < attemptsMax && (this.#ofUser.get(ownerId) ?? 0) < attemptsOfUserMax
  }

  add(ownerId: string): void {
    this.#total++
    this.#ofUser.set(ownerId, (this.#ofUser.get(ownerId) ?? 0) + 1)
  }

  remove(ownerId: string): void {
    this.#total--
    const count = (this.#ofUser.get(ownerId) ?? 1) - 1
    if (count === 0) this.#ofUser.delete(ownerId)
    else this.#ofUser.set(ownerId, count)
  }
}
