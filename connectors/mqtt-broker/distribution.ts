import type { Client, PublishPacket } from 'aedes'
import type { UserId } from '../../src/core/ids.ts'
import type { Audience, PassedMessage } from './audience.ts'
import { ownTopicLevels, streamLevel } from './topics.ts'

/** Where messages are kept for those who are to get them later. */
export interface MessageStore {
  keep(client: Client | null, packet: PublishPacket): Promise<void>
  /** Whether somebody is to get what comes on a topic, who may be away now. */
  awaits(topic: string): boolean
  levelsBelow(userId: string, ...levels: readonly string[]): Iterable<string>
}

/** Brings messages to those who have subscribed to them, now or when they come back. */
export class Distribution {
  readonly #audience: Audience
  readonly #store: MessageStore
  /** Packets of clients that were kept, and go to those who are connected once they are answered. */
  readonly #kept = new WeakSet<PublishPacket>()
  /** What of each client is being kept: what follows must not pass it by ([MQTT-4.6.0-6]). */
  readonly #keeping = new WeakMap<Client, Promise<void>>()

  constructor(audience: Audience, store: MessageStore) {
    this.#audience = audience
    this.#store = store
  }

  /**
   * Keeps what a client publishes, on a topic of the broker's: as long as it may be acknowledged only
   * afterwards.
   *
   * @throws DomainError when it cannot be kept
   */
  async keep(client: Client | null, packet: PublishPacket): Promise<void> {
    const before = client ? this.#keeping.get(client) : undefined
    const kept = keepAfter(before, this.#store.keep(client, packet))
    if (client) this.#keeping.set(client, kept)
    await kept
    this.#kept.add(packet)
  }

  /** Sends what was kept to those who are connected; anything else is for nobody. */
  passOn(packet: PublishPacket): void {
    if (this.#kept.has(packet)) this.#audience.deliver(messageOf(packet))
  }

  /** Whether anybody has subscribed to a topic of the broker's. */
  isHeard(topic: string): boolean {
    return this.#audience.hears(topic) || this.#store.awaits(topic)
  }

  /** Whether anybody has subscribed to a topic of the user's own that is none of a stream. */
  isHeardBy(userId: UserId): boolean {
    const own = ownTopicLevels(userId)
    for (const level of this.#audience.levelsBelow(userId, ...own)) {
      if (level !== streamLevel) return true
    }
    for (const level of this.#store.levelsBelow(userId, ...own)) {
      if (level !== streamLevel) return true
    }
    return false
  }

  /** A message of the service's own: resolves when it is kept and on its way, with how many want it now. */
  async publish(message: PassedMessage, retain = false): Promise<number> {
    const packet: PublishPacket = { cmd: 'publish', ...message, retain, dup: false }
    await this.#store.keep(null, packet)
    return this.#audience.deliver(message)
  }
}

/** Resolves as `kept` does, but not before `before` has ended. */
async function keepAfter(before: Promise<void> | undefined, kept: Promise<void>): Promise<void> {
  await Promise.allSettled([before, kept])
  await kept
}

function messageOf({ topic, payload, qos }: PublishPacket): PassedMessage {
  return { topic, payload: Buffer.isBuffer(payload) ? payload : Buffer.from(payload), qos }
}
