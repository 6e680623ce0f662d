import type { Client } from 'aedes'
import { FilterTree } from '../../src/core/filter-tree.ts'
import { matches } from '../../src/core/topic-filter.ts'
import { unacknowledgedPublish } from './publish-packet.ts'
import { outerTopic } from './topics.ts'

/** A message on its way to those who have subscribed to it. */
export interface PassedMessage {
  /** As the broker calls it. */
  readonly topic: string
  readonly payload: Buffer
  readonly qos: 0 | 1 | 2
}

/**
 * The clients that are connected, and what they have subscribed to. It takes the place of the broker's
 * own way, which passes messages by each other, gives an overlapping subscription the QoS of whichever
 * was first, and has all others wait for a client that does not read.
 */
export class Audience {
  readonly stats = { delivered: 0 }
  readonly #filters = new FilterTree<Client>()
  readonly #ofClient = new Map<Client, Map<string, number>>()

  /** Filters of a client. */
  count(client: Client): number {
    return this.#ofClient.get(client)?.size ?? 0
  }

  /** The filters of a client with their QoS, by the broker's names. */
  filtersOf(client: Client): ReadonlyMap<string, number> {
    return this.#ofClient.get(client) ?? nothing
  }

  has(client: Client, filter: string): boolean {
    return this.#ofClient.get(client)?.has(filter) ?? false
  }

  add(client: Client, filter: string, qos: number): void {
    const filters = this.#ofClient.get(client) ?? new Map<string, number>()
    this.#ofClient.set(client, filters.set(filter, qos))
    this.#filters.set(filter, client, qos)
  }

  remove(client: Client, filter: string): void {
    this.#filters.delete(filter, client)
    this.#ofClient.get(client)?.delete(filter)
  }

  leave(client: Client): void {
    for (const filter of this.#ofClient.get(client)?.keys() ?? []) {
      this.#filters.delete(filter, client)
    }
    this.#ofClient.delete(client)
  }

  /** Whether anybody who is connected has subscribed to a topic. */
  hears(topic: string): boolean {
    return this.#filters.match(topic).size > 0
  }

  /** The levels that follow on these, in the filters of those who are connected. */
  levelsBelow(...levels: readonly string[]): Iterable<string> {
    return this.#filters.levelsBelow(...levels)
  }

  /** The highest QoS of a client's filters that match a topic; 0 when none does. */
  grantedFor(client: Client, topic: string): number {
    let highest = 0
    for (const [filter, qos] of this.#ofClient.get(client) ?? []) {
      if (qos > highest && matches(filter, topic)) highest = qos
    }
    return highest
  }

  /**
   * Sends a message to everybody who has subscribed to it: once, with the highest QoS of those filters
   * that match ([MQTT-3.3.5-1]), but no higher than its own. What a persistent session gets with QoS 1
   * or 2 comes out of its queue. Returns how many want it.
   */
  deliver(message: PassedMessage): number {
    const found = this.#filters.match(message.topic)
    let unacknowledged: Buffer | undefined
    for (const [client, granted] of found) {
      if (!client.connected || client.conn.destroyed) continue
      const qos = Math.min(granted, message.qos)
      if (qos > 0 && !client.clean) continue
      this.stats.delivered++
      if (qos === 0) {
        unacknowledged ??= unacknowledgedPublish(outerTopic(message.topic), message.payload)
        client.conn.write(unacknowledged)
      } else publish(client, message, qos as 1 | 2)
    }
    return found.size
  }
}

const nothing: ReadonlyMap<string, number> = new Map()

/** With a packet id: the broker gives it, and leads the exchange. */
function publish(client: Client, { topic, payload }: PassedMessage, qos: 1 | 2): void {
  client.publish(
    { cmd: 'publish', topic, payload, qos, retain: false, dup: false },
    () => undefined,
  )
}
