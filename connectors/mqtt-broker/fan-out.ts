import type { RawMessage } from '../../src/contracts/connector.ts'
import { monotonicMs } from '../../src/core/clock.ts'
import type { StreamId, UserId } from '../../src/core/ids.ts'
import type { Distribution } from './distribution.ts'
import { innerStreamTopic, outerTopic, readingsTopicOf } from './topics.ts'

/** Messages that wait to be passed on, and their bytes: what comes beyond is not passed on. */
const messagesMax = 10_000
const bytesMax = 32 * 1024 * 1024

/** How long messages are passed on before others have their turn. */
const turnMs = 5

/** A message that is durable, on its way to those who follow its topic. */
interface WaitingMessage {
  readonly topic: string
  readonly payload: Uint8Array
  readonly qos: number
  readonly isRetained: boolean
}

export interface FanOutNeeds {
  readonly distribution: Distribution
  /** Whose streams' messages are wanted. */
  readonly listeners: {
    begin(publish: (message: RawMessage) => void): void
    add(streamId: StreamId): void
    remove(streamId: StreamId): void
  }
  readonly onFailure: (error: unknown) => void
}

/**
 * Passes readings on to those who have subscribed to them, after the journal's commit and apart from
 * it: what waits here holds up nobody, and is little.
 */
export class FanOut {
  readonly stats = { passedOn: 0, dropped: 0 }
  readonly #needs: FanOutNeeds
  #waiting: WaitingMessage[] = []
  #bytes = 0
  #isRunning = false

  constructor(needs: FanOutNeeds) {
    this.#needs = needs
    needs.listeners.begin(({ stream, payload, qos = 1, isRetained = false }) => {
      const topic = innerStreamTopic({ streamId: stream.streamId, part: 'data' }, stream.ownerId)
      this.add({ topic, payload, qos, isRetained })
    })
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Notes a filter of the broker's that somebody has, also while not connected. */
  listen(filter: string): void {
    const topic = outerTopic(filter)
    if (topic === filter) return
    const streamId = readingsTopicOf(topic)
    if (streamId !== undefined) this.#needs.listeners.add(streamId)
  }

  /** Whether a user has subscribed to topics outside of the space that is for messages. */
  isHeardBy(userId: UserId): boolean {
    return this.#needs.distribution.isHeardBy(userId)
  }

  /** Takes a message that is durable. */
  add(message: WaitingMessage): void {
    const bytes = message.payload.byteLength
    if (this.#waiting.length >= messagesMax || this.#bytes + bytes > bytesMax) {
      this.stats.dropped++
      return
    }
    // A copy: what arrived is a small part of a large block, which others of its readings share.
    this.#waiting.push({ ...message, payload: Buffer.from(message.payload) })
    this.#bytes += bytes
    if (this.#isRunning) return
    this.#isRunning = true
    setImmediate(this.#run)
  }

  readonly #run = (): void => {
    const endMs = monotonicMs() + turnMs
    let done = 0
    for (const message of this.#waiting) {
      if (done > 0 && monotonicMs() > endMs) break
      done++
      this.#bytes -= message.payload.byteLength
      this.#passOn(message)
    }
    this.#waiting = this.#waiting.slice(done)
    this.#isRunning = this.#waiting.length > 0
    if (this.#isRunning) setImmediate(this.#run)
  }

  #passOn({ topic, payload, qos, isRetained }: WaitingMessage): void {
    this.stats.passedOn++
    const bytes = payload as Buffer
    const message = { topic, payload: bytes, qos: qos as 0 | 1 | 2 }
    const publish = async () => {
      const wanting = await this.#needs.distribution.publish(message, isRetained)
      if (wanting === 0) this.#listenNoMore(topic)
    }
    publish().catch((error: unknown) => {
      this.stats.dropped++
      this.#needs.onFailure(error)
    })
  }

  /** A stream that everybody has left costs nothing any more. */
  #listenNoMore(topic: string): void {
    const streamId = readingsTopicOf(outerTopic(topic))
    // The question is asked in the turn in which it counts: somebody may have come since.
    if (streamId === undefined || this.#needs.distribution.isHeard(topic)) return
    this.#needs.listeners.remove(streamId)
  }
}
