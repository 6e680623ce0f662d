import { promisify } from 'node:util'
import type { Client, Subscription } from 'aedes'
import type { UserId } from '../../src/core/ids.ts'
import type { Audience } from './audience.ts'
import { type Packet, variableHeaderAt } from './guard/framing.ts'
import { suback } from './publish-packet.ts'
import type { Rights } from './rights.ts'
import type { Session } from './sessions.ts'
import { innerStreamTopic, innerTopic, outerTopic, streamTopicOf } from './topics.ts'

/** Filters of one client: each is in memory, and in the way of every message. */
const filtersMax = 1_000

/** Return code of a refused filter, section 3.9.3. */
const refused = 0x80

/** Where filters of persistent sessions are kept. */
export interface FilterStore {
  /** False when the session, or its user, has no room for another. */
  grant(client: Client, subscription: Subscription): boolean
}

interface SubscriptionNeeds {
  readonly rights: Rights
  readonly audience: Audience
  readonly store: FilterStore
  /** Called with each filter, by the broker's name, that somebody listens to from now on. */
  readonly onFilter: (filter: string) => void
}

/** Who subscribes. */
export interface Subscriber {
  readonly client: Client
  readonly session: Session
}

/**
 * Answers SUBSCRIBE and UNSUBSCRIBE. The broker would answer one code for a filter that stands twice in
 * a packet ([MQTT-3.8.4-5]), and has a persistent session keep the filters that were refused; so it is
 * given what was granted, by its own name for the topic, and keeps it and sends retained messages.
 */
export class Subscriptions {
  /** Filters that were refused because a client, a session or a user has as many as there may be. */
  readonly stats = { filtersRefused: 0 }
  readonly #needs: SubscriptionNeeds
  /** Filters that were granted and lead nowhere: neither the broker nor a session knows of them. */
  readonly #ignored = new WeakMap<Client, Set<string>>()

  constructor(needs: SubscriptionNeeds) {
    this.#needs = needs
  }

  /** Resolves with the SUBACK, once what was granted is kept. */
  async subscribe({ client, session }: Subscriber, packet: Packet): Promise<Buffer> {
    const { packetId, filters } = takeSubscribe(packet)
    const granted = new Map<string, Subscription>()
    const codes: number[] = []
    for (const { filter, qos } of filters) {
      const subscription = { topic: innerFilter(filter, session.userId), qos }
      const isGranted = await this.#grant({ client, session }, subscription)
      const isTaken = isGranted || (await this.#ignore({ client, session }, subscription.topic))
      codes.push(isTaken ? qos : refused)
      if (isGranted) granted.set(subscription.topic, subscription)
    }
    const subscriptions = [...granted.values()]
    if (subscriptions.length > 0) {
      await promisify((done: (error?: Error) => void) => {
        client.subscribe({ subscriptions }, done)
      })()
    }
    return suback(packetId, codes)
  }

  /** Resolves when the broker has answered. */
  async unsubscribe({ client, session }: Subscriber, packet: Packet): Promise<void> {
    const { packetId, filters } = takeUnsubscribe(packet)
    const unsubscriptions = filters.map((filter) => innerFilter(filter, session.userId))
    for (const filter of unsubscriptions) {
      this.#needs.audience.remove(client, filter)
      this.#ignored.get(client)?.delete(filter)
    }
    await promisify((done: (error?: Error) => void) => {
      client.unsubscribe({ cmd: 'unsubscribe', messageId: packetId, unsubscriptions }, done)
    })()
  }

  /** Whether a client has a filter: one that was granted, or that its session has from before. */
  async confirm(subscriber: Subscriber, subscription: Subscription): Promise<boolean> {
    const { topic } = subscription
    if (this.#needs.audience.has(subscriber.client, topic)) return true
    return await this.#grant(subscriber, subscription)
  }

  /**
   * Adds a filter of the broker's to what a client listens to, if it may and there is room. Filters of a
   * session that is taken up again come here, too: rights may have changed since.
   */
  async #grant({ client, session }: Subscriber, subscription: Subscription): Promise<boolean> {
    const { rights, audience, store, onFilter } = this.#needs
    const { topic, qos } = subscription
    if (!(await rights.maySubscribeTo(session, outerTopic(topic)))) return false
    const hasRoom =
      audience.has(client, topic) ||
      (this.#count(client) < filtersMax && audience.hasRoomFor(topic))
    if (!hasRoom || !store.grant(client, subscription)) {
      this.stats.filtersRefused++
      return false
    }
    audience.add(client, topic, qos)
    // It may have led nowhere before a stream was given the topic.
    this.#ignored.get(client)?.delete(topic)
    // It may have gone while its rights were looked up.
    if (client.conn.destroyed) audience.leave(client)
    onFilter(topic)
    return true
  }

  /** Takes a filter that leads nowhere, where the client is one that ignores such topics, and there is room. */
  async #ignore({ client, session }: Subscriber, topic: string): Promise<boolean> {
    if (!(await this.#needs.rights.ignoresFilter(session, outerTopic(topic)))) return false
    const ignored = this.#ignored.get(client) ?? new Set<string>()
    if (!ignored.has(topic) && this.#count(client) >= filtersMax) {
      this.stats.filtersRefused++
      return false
    }
    this.#ignored.set(client, ignored.add(topic))
    return true
  }

  #count(client: Client): number {
    return this.#needs.audience.count(client) + (this.#ignored.get(client)?.size ?? 0)
  }
}

/** The broker's name of a filter; ids of streams are written in lower case. */
function innerFilter(filter: string, userId: UserId): string {
  const stream = streamTopicOf(filter)
  return stream ? innerStreamTopic(stream, userId) : innerTopic(filter, userId)
}

interface WantedFilter {
  readonly filter: string
  readonly qos: 0 | 1 | 2
}

/** A SUBSCRIBE that was checked before, section 3.8. */
function takeSubscribe(packet: Packet) {
  const { bytes, end } = packet
  const filters: WantedFilter[] = []
  let at = variableHeaderAt(packet)
  const packetId = bytes.readUInt16BE(at)
  at += 2
  while (at < end) {
    const { text, next } = textAt(bytes, at)
    filters.push({ filter: text, qos: bytes[next] as WantedFilter['qos'] })
    at = next + 1
  }
  return { packetId, filters }
}

/** An UNSUBSCRIBE that was checked before, section 3.10. */
function takeUnsubscribe(packet: Packet) {
  const { bytes, end } = packet
  const filters: string[] = []
  let at = variableHeaderAt(packet)
  const packetId = bytes.readUInt16BE(at)
  at += 2
  while (at < end) {
    const { text, next } = textAt(bytes, at)
    filters.push(text)
    at = next
  }
  return { packetId, filters }
}

function textAt(bytes: Buffer, at: number): { readonly text: string; readonly next: number } {
  const start = at + 2
  const next = start + bytes.readUInt16BE(at)
  return { text: bytes.toString('utf8', start, next), next }
}
