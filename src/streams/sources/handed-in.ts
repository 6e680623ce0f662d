import type { StreamId } from '../../core/ids.ts'
import { race } from '../../core/race.ts'

/**
 * What ended runs have handed to a disk that stands still. It may become durable at any time: until that is
 * known, nobody knows at which position the next run of the stream has to begin.
 */
export class HandedIn {
  readonly #pending = new Map<StreamId, Set<Promise<void>>>()

  /** @param over resolves when nothing of a run is under way any more; it never rejects */
  add(id: StreamId, over: Promise<void>): void {
    const pending = this.#pending.get(id) ?? new Set()
    pending.add(over)
    this.#pending.set(id, pending)
    void this.#forget(id, over)
  }

  async #forget(id: StreamId, over: Promise<void>): Promise<void> {
    await over
    const pending = this.#pending.get(id)
    pending?.delete(over)
    if (pending?.size === 0) this.#pending.delete(id)
  }

  /**
   * Resolves when nothing of an ended run is under way.
   *
   * @throws the reason of the signal, when that comes first
   */
  async over(id: StreamId, signal: AbortSignal): Promise<void> {
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    const { promise: ended, reject } = Promise.withResolvers<never>()
    const end = () => reject(signal.reason as Error)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    try {
      await race([Promise.all(pending), ended])
    } finally {
      signal.removeEventListener('abort', end)
    }
  }
}
