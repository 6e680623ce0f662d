import type { StreamId } from '../../core/ids.ts'

type Listener = (id: StreamId) => void

/** Tells those who remember something of streams of each one of which nothing is left. */
export class Departures {
  readonly #listeners: Listener[] = []

  onDeparture(listener: Listener): void {
    this.#listeners.push(listener)
  }

  announce(id: StreamId): void {
    for (const listener of this.#listeners) listener(id)
  }
}
