import { LruMap } from '../../core/lru-map.ts'

/** Keys whose dropped messages are counted: the counts of those that have dropped nothing for long go. */
const keysMax = 10_000

/**
 * Messages that were acknowledged and are for nobody (decisions.md#messages-without-a-receiver), by the key
 * that they came with, since the start.
 */
export class DroppedPublishes {
  readonly #ofKey = new LruMap<string, number>(keysMax)

  /** Counts one. Returns how many there are of this key. */
  count(keyId: string): number {
    const dropped = this.of(keyId) + 1
    this.#ofKey.set(keyId, dropped)
    return dropped
  }

  of(keyId: string): number {
    return this.#ofKey.get(keyId) ?? 0
  }
}
