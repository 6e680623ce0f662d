import { Lane } from './lane.ts'

/** Receivers that something is known to come for, some 300 bytes each; the others wait for the next look. */
export const lanesMax = 50_000

/** The lanes of all receivers that something is due for, or will be. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()

  get size(): number {
    return this.#lanes.size
  }

  get(receiverId: string): Lane | undefined {
    return this.#lanes.get(receiverId)
  }

  /** All lanes in turns: who was served is asked last. */
  all(): IteratorObject<Lane> {
    return this.#lanes.values()
  }

  served(lane: Lane): void {
    this.#lanes.delete(lane.receiverId)
    this.#lanes.set(lane.receiverId, lane)
  }

  /** Has the state looked at for these receivers. */
  expectMore(receiverIds: readonly string[]): void {
    for (const id of receiverIds) {
      const lane = this.#lanes.get(id)
      if (lane) lane.hasMore = true
      else if (this.#lanes.size < lanesMax) this.#lanes.set(id, new Lane(id))
    }
  }

  /** When something is due next; `otherwise` at the latest. */
  nextDueUs(otherwise: number): number {
    let next = otherwise
    for (const { nextDueUs = otherwise } of this.#lanes.values()) next = Math.min(next, nextDueUs)
    return next
  }

  dropIdle(): void {
    for (const [id, lane] of this.#lanes) if (lane.isIdle) this.#lanes.delete(id)
  }
}
