import { ClosingError } from './guard/closing.ts'

/**
 * Dropped messages of one connection in a minute: more of them close it
 * (decisions.md#messages-for-nobody).
 */
const dropsPerMinute = 100

const minuteMs = 60_000

/** Dropped messages of a connection since its minute began. */
export interface DropWindow {
  sinceMs: number
  count: number
}

/** A connection whose messages are dropped. */
interface DroppedSender {
  readonly apiKeyId: string
  readonly drops: DropWindow
}

/** Where they are counted by key. */
export interface DropCounter {
  /** Counts one. Returns how many there are of this key. */
  count(apiKeyId: string): number
}

/** Messages that were acknowledged and are for nobody: to no stream and no space of the user. */
export class Drops {
  readonly #ofKey: DropCounter
  total = 0

  constructor(ofKey: DropCounter) {
    this.#ofKey = ofKey
  }

  /** Counts one. Returns why the connection is to be closed, if it is. */
  count({ apiKeyId, drops }: DroppedSender, nowMs: number): ClosingError | undefined {
    this.total++
    const ofKey = this.#ofKey.count(apiKeyId)
    if (nowMs - drops.sinceMs >= minuteMs) {
      drops.sinceMs = nowMs
      drops.count = 0
    }
    if (++drops.count <= dropsPerMinute) return undefined
    const reason = `too many messages to topics that are not its own; of ${apiKeyId} so far: ${ofKey}`
    return new ClosingError('unknown_topics', reason)
  }
}
