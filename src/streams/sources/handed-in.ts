import type { StreamId } from '../../core/ids.ts'

/**
 * What ended runs have handed to a disk that stands still. It may become durable at any time: until that is
 * known, nobody knows at which position the next run of the stream has to begin.
 */
export class HandedIn {
  readonly #pending = new Map<StreamId, Promise<void>>()

  /** @param over resolves when nothing of a run is under way any more; it never rejects */
  add(id: StreamId, over: Promise<void>): void {
    const all = Promise.all([this.#pending.get(id), over]).then(() => {
      if (this.#pending.get(id) === all) this.#pending.delete(id)
    })
    this.#pending.set(id, all)
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
      await Promise.race([pending, ended])
    } finally {
      signal.removeEventListener('abort', end)
    }
  }
}
