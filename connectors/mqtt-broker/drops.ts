import { TokenBucket } from '../../src/core/token-bucket.ts'
import { ClosingError } from './guard/closing.ts'

/**
 * Dropped messages of one connection in a minute: more of them close it
 * (decisions.md#messages-without-a-receiver).
 */
const dropsPerMinute = 100

const minuteMs = 60_000

/**
 * Look-ups of one connection that found nothing: each asks the state. One that may drop as many messages as it likes
 * is read more slowly where it needs more of them.
 */
const lookUpsRate = { perSecond: 200, burst: 1_000 } as const

/** Dropped messages of a connection since its minute began. */
export interface DropWindow {
  sinceMs: number
  count: number
  /** Undefined as long as nothing was looked up in vain. */
  lookUps?: TokenBucket
}

/** A connection whose messages are dropped. */
interface DroppedSender {
  readonly apiKeyId: string
  readonly ignoresForeignTopics: boolean
  readonly drops: DropWindow
}

/** A connection whose messages have to be looked up, in vain. */
interface SlowedSender {
  readonly connection: { holdFor(ms: number): void } | undefined
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
  count(sender: DroppedSender, nowMs: number): ClosingError | undefined {
    const { apiKeyId, drops, ignoresForeignTopics } = sender
    this.total++
    const ofKey = this.#ofKey.count(apiKeyId)
    if (ignoresForeignTopics) return undefined
    if (nowMs - drops.sinceMs >= minuteMs) {
      drops.sinceMs = nowMs
      drops.count = 0
    }
    if (++drops.count <= dropsPerMinute) return undefined
    const reason = `too many messages to topics that are not its own; of ${apiKeyId} so far: ${ofKey}`
    return new ClosingError('unknown_topics', reason)
  }

  /** To be called when a message was looked up in vain. */
  slowDown({ connection, drops }: SlowedSender): void {
    drops.lookUps ??= new TokenBucket(lookUpsRate)
    drops.lookUps.spend(1)
    const waitMs = drops.lookUps.waitMs(1)
    if (waitMs > 0) connection?.holdFor(waitMs)
  }
}
