import type { Client } from 'aedes'
import { FilterRoom } from '../../src/core/filter-room.ts'
import { FilterTree } from '../../src/core/filter-tree.ts'
import { unacknowledgedPublish } from './publish-packet.ts'
import { outerTopic, ownerOfTopic } from './topics.ts'

/** A message on its way to those who have subscribed to it. */
export interface PassedMessage {
  /** Topic as the broker calls it. */
  readonly topic: string
  readonly payload: Buffer
  readonly qos: 0 | 1 | 2
}

/** What the clients of one user listen to. */
interface UserFilters {
  readonly tree: FilterTree<Client>
  readonly room: FilterRoom
}

/**
 * The clients that are connected, and what they have subscribed to. It takes the place of the broker's
 * own way, which passes messages by each other, gives an overlapping subscription the QoS of whichever
 * was first, and has all others wait for a client that does not read.
 */
export class Audience {
  readonly stats = { delivered: 0 }
  /** Filters by user: what one user has costs the others nothing. */
  readonly #users = new Map<string, UserFilters>()
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

  /** Whether the user of a filter has room for it. */
  hasRoomFor(filter: string): boolean {
    return this.#userOf(filter)?.room.hasRoomFor(filter) ?? true
  }

  add(client: Client, filter: string, qos: number): void {
    const userId = ownerOfTopic(filter)
    if (userId === undefined) return
    let user = this.#users.get(userId)
    if (!user) {
      user = { tree: new FilterTree(), room: new FilterRoom() }
      this.#users.set(userId, user)
    }
    const filters = this.#ofClient.get(client) ?? new Map<string, number>()
    if (!filters.has(filter)) user.room.take(filter)
    this.#ofClient.set(client, filters.set(filter, qos))
    user.tree.set(filter, client, qos)
  }

  remove(client: Client, filter: string): void {
    if (this.#ofClient.get(client)?.delete(filter)) this.#forget(client, filter)
  }

  leave(client: Client): void {
    for (const filter of this.#ofClient.get(client)?.keys() ?? []) this.#forget(client, filter)

    this.#ofClient.delete(client)
  }

  /** Whether anybody who is connected has subscribed to a topic. */
  hears(topic: string): boolean {
    return this.#userOf(topic)?.tree.matchesAny(topic) ?? false
  }

  /** The levels that follow on these, in a user's filters of those who are connected. */
  levelsBelow(userId: string, ...levels: readonly string[]): Iterable<string> {
    return this.#users.get(userId)?.tree.levelsBelow(...levels) ?? []
  }

  /** The highest QoS of a client's filters that match a topic; 0 when none does. */
  grantedFor(client: Client, topic: string): number {
    return this.#userOf(topic)?.tree.qosOf(client, topic) ?? 0
  }

  /**
   * Sends a message to everybody who has subscribed to it: once, with the highest QoS of those filters
   * that match ([MQTT-3.3.5-1]), but no higher than its own. What a persistent session gets with QoS 1
   * or 2 comes out of its queue. Returns how many want it.
   */
  deliver(message: PassedMessage): number {
    const found = this.#userOf(message.topic)?.tree.match(message.topic) ?? nobody
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

  #userOf(topicOrFilter: string): UserFilters | undefined {
    const userId = ownerOfTopic(topicOrFilter)
    return userId === undefined ? undefined : this.#users.get(userId)
  }

  #forget(client: Client, filter: string): void {
    const userId = ownerOfTopic(filter)
    const user = userId === undefined ? undefined : this.#users.get(userId)
    if (!user || userId === undefined) return
    user.room.release(filter)
    user.tree.delete(filter, client)
    if (user.tree.isEmpty) this.#users.delete(userId)
  }
}

const nothing: ReadonlyMap<string, number> = new Map()
const nobody: ReadonlyMap<Client, number> = new Map()

/** Publishes with a packet id: the broker gives it, and leads the exchange. */
function publish(client: Client, { topic, payload }: PassedMessage, qos: 1 | 2): void {
  client.publish(
    { cmd: 'publish', topic, payload, qos, retain: false, dup: false },
    () => undefined,
  )
}
