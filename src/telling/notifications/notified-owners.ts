import type { MessagePort } from 'node:worker_threads'
import type { UserId } from '../../core/ids.ts'

type Listener = (ownerIds: readonly UserId[]) => void

/** Hears, in its own thread, that some users were notified of events: what is to be delivered is written down. */
export class NotifiedOwners {
  readonly #port: MessagePort
  readonly #listeners = new Set<Listener>()

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', (ownerIds: readonly UserId[]) => {
      for (const listener of this.#listeners) listener(ownerIds)
    })
    port.unref()
  }

  /** Returns how to hear no more of it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#port.close()
  }
}

/** The other side, where the state is written. */
export function postOwners(port: MessagePort): (ownerIds: ReadonlySet<UserId>) => void {
  return (ownerIds) => port.postMessage([...ownerIds])
}
