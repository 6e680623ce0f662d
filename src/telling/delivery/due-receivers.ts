/** Receivers that something new is due for, until somebody asks for them: as many as there are at most. */
export class DueReceivers {
  #receiverIds = new Set<string>()
  #arrived = Promise.withResolvers<void>()

  add(receiverIds: Iterable<string>): void {
    for (const id of receiverIds) this.#receiverIds.add(id)
    if (this.#receiverIds.size > 0) this.#arrived.resolve()
  }

  /** Resolves once there are some; they are not given again. */
  async next(): Promise<readonly string[]> {
    await this.#arrived.promise
    const ids = [...this.#receiverIds]
    this.#receiverIds = new Set()
    this.#arrived = Promise.withResolvers()
    return ids
  }
}
