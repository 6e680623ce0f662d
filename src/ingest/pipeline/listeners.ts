import type { RawMessage } from '../../contracts/connector.ts'
import type { StreamId } from '../../core/ids.ts'

/**
 * Publishes messages of single streams as they came to those who want them, once they are durable. The question
 * comes with every message, so it is one look into a set; who hears them is none of the intake's business.
 */
export class Listeners {
  readonly #streams = new Set<StreamId>()
  #publish: (message: RawMessage) => void = () => undefined

  /** Streams that somebody listens to, or may do so later. */
  get size(): number {
    return this.#streams.size
  }

  /** From now on this is told of every message that is wanted. It must not throw, nor take long. */
  begin(publish: (message: RawMessage) => void): void {
    this.#publish = publish
  }

  add(streamId: StreamId): void {
    this.#streams.add(streamId)
  }

  /** To be called when nobody was found who listens any more. */
  remove(streamId: StreamId): void {
    this.#streams.delete(streamId)
  }

  /** Whether somebody listens, or may do so later and is to find this message then. */
  want({ stream, isRetained }: RawMessage): boolean {
    if (isRetained === true) return true
    // Mostly nobody listens to anything: then no id is looked at, which of thousands lies somewhere else in memory.
    return this.#streams.size > 0 && this.#streams.has(stream.streamId)
  }

  publish(message: RawMessage): void {
    this.#publish(message)
  }
}
