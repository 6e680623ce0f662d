import type { MessagePort } from 'node:worker_threads'
import type { Offset } from './journal.ts'

/** How far the journal reaches, as its thread tells after each commit. */
export class JournalHead {
  #head: Offset = 0
  #waiting: PromiseWithResolvers<void> | undefined

  constructor(port: MessagePort) {
    port.on('message', (head: Offset) => {
      this.#head = head
      this.#waiting?.resolve()
      this.#waiting = undefined
    })
  }

  /** Offset of the entry that comes next. */
  get offset(): Offset {
    return this.#head
  }

  /** Resolves when there are entries at or after the offset, or when the signal is aborted. */
  async reaches(offset: Offset, signal: AbortSignal): Promise<void> {
    while (this.#head <= offset && !signal.aborted) {
      this.#waiting ??= Promise.withResolvers()
      const { promise, resolve } = this.#waiting
      const stop = () => resolve()
      signal.addEventListener('abort', stop, { once: true })
      await promise
      signal.removeEventListener('abort', stop)
    }
  }
}
