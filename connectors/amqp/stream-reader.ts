import { hash } from 'node:crypto'
import type { ConsumeMessage } from 'amqplib'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'

/** The place of a message in a stream of RabbitMQ; undefined for that of any other queue. */
export function offsetOf({ properties }: ConsumeMessage): number | undefined {
  const offset: unknown = properties.headers?.['x-stream-offset']
  return typeof offset === 'number' ? offset : undefined
}

/**
 * How far a stream of RabbitMQ was read. It begins with the message that was read last, if there is one: by that it
 * knows the stream again.
 */
export class StreamReader {
  #offset: number | undefined
  #digest: string | undefined
  /** Whether the message that was read last has still to be seen again. */
  #isComparing: boolean
  readonly #found = Promise.withResolvers<void>()

  constructor(position: SourcePosition | undefined) {
    const { offset, digest } = position ?? {}
    this.#offset = typeof offset === 'number' ? offset : undefined
    this.#digest = typeof digest === 'string' ? digest : undefined
    this.#isComparing = this.#offset !== undefined
    if (!this.#isComparing) this.#found.resolve()
    // Nobody may be waiting for it at the time.
    this.#found.promise.catch(() => undefined)
  }

  /** What a consumer asks for (RabbitMQ, argument `x-stream-offset`). */
  get start(): number | 'first' {
    return this.#offset ?? 'first'
  }

  /** Resolves when the stream was found to be the one that was read before. */
  get found(): Promise<void> {
    return this.#found.promise
  }

  /** What is wrong where that does not come: a stream keeps its newest messages in any case. */
  get missing(): string {
    return `message ${this.#offset} of the stream, which was read last, does not come: has the stream been made again?`
  }

  get position(): SourcePosition | undefined {
    return this.#offset === undefined ? undefined : { offset: this.#offset, digest: this.#digest }
  }

  /**
   * Whether a message was read before; else it is the one that is read last from now on.
   *
   * @throws SourceRefused when the stream is not the one that was read before
   */
  passesOver(delivered: ConsumeMessage): boolean {
    const offset = offsetOf(delivered)
    if (offset === undefined) throw new SourceRefused('the queue is not a stream (queueType)')
    const digest = hash('sha256', delivered.content).slice(0, 16)
    // What is before it says nothing: a stream that was made anew, and is shorter, has only that.
    if (this.#isComparing && offset >= (this.#offset ?? 0)) {
      this.#isComparing = false
      // A stream that has given up what was read last goes on with the oldest that it has.
      if (offset === this.#offset && digest !== this.#digest) throw this.#madeAnew()
      this.#found.resolve()
    }
    // Chunks are delivered whole, with what is before the offset that was asked for.
    if (this.#offset !== undefined && offset <= this.#offset) return true
    this.#offset = offset
    this.#digest = digest
    return false
  }

  #madeAnew(): SourceRefused {
    return new SourceRefused(
      `message ${this.#offset} of the stream is not the one that was read: has the stream been made again?`,
    )
  }
}
