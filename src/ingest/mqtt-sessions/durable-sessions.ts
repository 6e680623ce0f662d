import type { AedesPublishPacket, Client, PublishPacket, Subscription } from 'aedes'
import { type Clocks, wallUsOf } from '../../core/clock.ts'
import { unusedUsMax } from './limits.ts'
import { loadSessions } from './load-sessions.ts'
import { MessageQueues } from './message-queues.ts'
import type {
  FirstReceipt,
  KeptSession,
  LeftWill,
  MqttSessionStats,
  MqttSessions,
  SessionIdentity,
  SessionRules,
} from './mqtt-sessions.ts'
import { ReceivedIds } from './received-ids.ts'
import { RetainedMessages } from './retained-messages.ts'
import { Retention } from './retention.ts'
import type { Session } from './session.ts'
import { SessionLifetimes } from './session-lifetimes.ts'
import type { SessionParts } from './session-parts.ts'
import { SessionPersistence } from './session-persistence.ts'
import { nobody, SessionRegistry, sessionOf } from './session-registry.ts'
import type { SessionChange, StoredSessions } from './sessions-file.ts'
import type { SessionsLog } from './sessions-log.ts'
import { Wills } from './wills.ts'

/** How often it is written down that a session is in use. */
const useWrittenUs = 24 * 60 * 60 * 1_000_000

export interface DurableSessionsNeeds {
  readonly log: SessionsLog
  readonly stored: StoredSessions
  readonly clock: Clocks
}

/** Sessions on disk, with all of their contents in memory: what is asked is answered from there. */
export class DurableSessions implements MqttSessions {
  readonly persistence: SessionPersistence
  readonly #parts: SessionParts
  readonly #retention: Retention
  readonly #lifetimes: SessionLifetimes
  readonly #receivedIds: ReceivedIds
  #rules: SessionRules = nobodysRules
  #expired = 0

  constructor({ log, stored, clock }: DurableSessionsNeeds) {
    this.#parts = {
      log,
      clock,
      rules: {
        identify: (id) => this.#rules.identify(id),
        ownerOf: (topic) => this.#rules.ownerOf(topic),
        nameFor: (client, topic) => this.#rules.nameFor(client, topic),
        apiKeyOf: (client) => this.#rules.apiKeyOf(client),
      },
      registry: new SessionRegistry(),
      queues: new MessageQueues(log, (client, topic) => this.#rules.nameFor(client, topic)),
      retained: new RetainedMessages(),
      wills: new Wills(),
      recipients: new WeakMap(),
    }
    loadSessions(this.#parts, stored)
    this.#retention = new Retention(this.#parts)
    this.#receivedIds = new ReceivedIds(this.#parts)
    this.#lifetimes = new SessionLifetimes(this.#parts, lastNumberOf(stored))
    this.persistence = new SessionPersistence(this.#parts, {
      retention: this.#retention,
      lifetimes: this.#lifetimes,
      receivedIds: this.#receivedIds,
    })
  }

  begin(rules: SessionRules): void {
    this.#rules = rules
  }

  async keep(client: Client | null, packet: PublishPacket): Promise<void> {
    const { log, rules, registry, queues, recipients } = this.#parts
    const payload = Buffer.isBuffer(packet.payload) ? packet.payload : Buffer.from(packet.payload)
    packet.payload = payload
    const ownerId = rules.ownerOf(packet.topic)
    if (ownerId === undefined) return
    log.assertRoom()
    const { messageId } = packet
    // A will has no packet id, and is never sent twice.
    const isExchange = packet.qos === 2 && client !== null && messageId !== undefined
    const publisher = isExchange ? sessionOf(this.#parts, client) : undefined
    const exchange = publisher && this.#receivedIds.begin(publisher, messageId ?? 0)
    const passing = isExchange && client.clean ? client : undefined
    const isNew = passing === undefined || this.#receivedIds.beginPassing(passing, messageId ?? 0)
    if (!isNew || (publisher && !exchange)) {
      // A message that came before is where it belongs: once this is certain, it may be
      // acknowledged again.
      recipients.set(payload, nobody)
      await log.write()
      return
    }
    const message = { topic: packet.topic, payload, qos: packet.qos, retain: false }
    const wanting = packet.qos > 0 ? registry.matching(ownerId, packet.topic) : nobody
    const retention = packet.retain ? this.#retention.put(ownerId, message) : undefined
    const enqueued = queues.enqueue(message, wanting)
    recipients.set(payload, wanting)
    const changes = [
      ...(retention?.changes ?? []),
      ...enqueued.changes,
      ...(exchange ? [exchange.change] : []),
    ]
    if (changes.length === 0) return
    try {
      await log.write(...changes)
    } catch (error) {
      retention?.undo()
      queues.withdraw(enqueued)
      exchange?.undo()
      if (passing) this.#receivedIds.endPassing(passing, messageId ?? 0)
      throw error
    }
    queues.settle(enqueued)
  }

  awaits(topic: string): boolean {
    const { rules, registry } = this.#parts
    const ownerId = rules.ownerOf(topic)
    return ownerId !== undefined && registry.awaits(ownerId, topic)
  }

  levelsBelow(userId: string, ...levels: readonly string[]): Iterable<string> {
    return this.#parts.registry.levelsBelow(userId, levels)
  }

  async firstReceipt(
    client: Client,
    packetId: number,
    reserve: () => number,
  ): Promise<FirstReceipt | undefined> {
    const session = sessionOf(this.#parts, client)
    if (session) return await this.#receivedIds.firstReceipt(session, packetId, reserve)
    const isTaken = this.persistence.hasTaken(client, packetId)
    return isTaken ? { receivedAtUs: this.#parts.clock.nowUs(), isTaken } : undefined
  }

  hasRoomFor(brokerClientId: string): boolean {
    const { rules, registry } = this.#parts
    const identity = rules.identify(brokerClientId)
    if (!identity) return true
    return registry.get(identity) !== undefined || registry.hasRoomFor(identity.userId)
  }

  grant(client: Client, { topic, qos }: Subscription): boolean {
    const session = sessionOf(this.#parts, client)
    if (!session) return true
    if (!this.#parts.registry.grant(session, topic)) return false
    this.#lifetimes.grant(client, topic, qos)
    return true
  }

  forward(client: Client, packet: AedesPublishPacket): AedesPublishPacket | null {
    if (packet.qos === 0) return packet
    if (client.clean) return this.#numbered(client, packet)
    const session = sessionOf(this.#parts, client)
    if (!session) return packet
    // A retained message for a new subscription: the only packets that the broker gives no id.
    if (packet.retain && !packet.brokerId) return this.#forwardRetained(session, packet)
    const recipients = this.#parts.recipients.get(packet.payload as Buffer)
    return recipients?.has(session) ? null : packet
  }

  leftWills(): readonly LeftWill[] {
    return this.#parts.wills.left()
  }

  async dropWill(brokerClientId: string): Promise<void> {
    await this.#parts.log.write(...this.#parts.wills.delete(brokerClientId))
  }

  /** Ends sessions that nobody has used for long. Resolves with whether there is more to do. */
  async purge(): Promise<boolean> {
    const { log, registry, clock } = this.#parts
    const nowUs = clock.steadyUs()
    const changes: SessionChange[] = []
    for (const session of registry.all()) {
      const unusedUs = nowUs - session.lastUsedAtUs
      if (session.client && unusedUs > useWrittenUs) {
        session.lastUsedAtUs = nowUs
        changes.push(['useSession', nowUs, session.number])
      } else if (!session.client && unusedUs > unusedUsMax) {
        changes.push(...this.#lifetimes.drop(session))
        this.#expired++
      }
    }
    await log.write(...changes)
    return false
  }

  /** Takes away what is kept of a user's topics that nothing will come on any more. */
  async forgetTopics(userId: string, isOver: (topicOrFilter: string) => boolean): Promise<void> {
    const { log, registry, queues } = this.#parts
    const changes = [...this.#retention.drop(userId, isOver)]
    for (const session of registry.ofUser(userId)) {
      changes.push(...queues.drop(session, isOver))
      for (const filter of session.subscriptions.keys()) {
        if (!isOver(filter)) continue
        registry.unsubscribe(session, filter)
        changes.push(['dropSubscription', session.number, filter])
      }
    }
    await log.write(...changes)
  }

  /** Every session that there is. */
  identities(): readonly SessionIdentity[] {
    return [...this.#parts.registry.all()]
  }

  /** Ends everything of a user who was deleted. */
  async forgetUser(userId: string): Promise<void> {
    const { log, registry, wills } = this.#parts
    const changes = registry.ofUser(userId).flatMap((session) => this.#lifetimes.drop(session))
    await log.write(...changes, ...this.#retention.drop(userId), ...wills.deleteOf(userId))
  }

  sessionsOf(userId: string): readonly KeptSession[] {
    return this.#parts.registry.ofUser(userId).map((one) => keptSession(one, this.#parts.clock))
  }

  async end(identity: SessionIdentity): Promise<boolean> {
    const { log, registry } = this.#parts
    const session = registry.get(identity)
    if (session) await log.write(...this.#lifetimes.drop(session))
    return session !== undefined
  }

  *filters(): Generator<string> {
    for (const { subscriptions } of this.#parts.registry.all()) yield* subscriptions.keys()
  }

  /** Users of whom something is kept. */
  userIds(): ReadonlySet<string> {
    const { registry, retained, wills } = this.#parts
    return new Set([...registry.userIds(), ...retained.userIds(), ...wills.userIds()])
  }

  stats(): MqttSessionStats {
    const { log, registry, queues, retained } = this.#parts
    return {
      sessions: registry.sessions,
      connected: queues.connected,
      subscriptions: registry.subscriptions,
      queued: queues.queued,
      queuedBytes: queues.bytes,
      retained: retained.count,
      retainedBytes: retained.bytes,
      queueDropped: queues.dropped,
      retainedDropped: this.#retention.dropped,
      expired: this.#expired,
      failures: log.failures,
    }
  }

  #numbered(client: Client, packet: AedesPublishPacket): AedesPublishPacket | null {
    const messageId = this.persistence.takePacketId(client)
    if (messageId !== undefined) return Object.assign(packet, { messageId })
    this.#parts.queues.dropped++
    return null
  }

  /** Puts a retained message into the queue, like all that a session is to get with QoS 1 or 2. */
  #forwardRetained(session: Session, packet: AedesPublishPacket): AedesPublishPacket | null {
    const { registry, queues } = this.#parts
    const granted = registry.matching(session.userId, packet.topic).get(session) ?? 0
    if (granted === 0) return { ...packet, qos: 0 }
    const { topic, payload, qos } = packet
    const message = { topic, payload: payload as Buffer, qos, retain: true }
    queues.settleLater(queues.enqueue(message, new Map([[session, granted]])))
    return null
  }
}

function lastNumberOf({ sessions }: StoredSessions): number {
  return sessions.reduce((last, row) => Math.max(last, Number(row['number'])), 0)
}

/** The session as it is shown: by the wall clock. */
function keptSession(session: Session, clock: Clocks): KeptSession {
  const { number, userId, clientId, createdAtUs, subscriptions } = session
  const lastUsedAtUs = wallUsOf(clock, session.lastUsedAtUs)
  const { queue, queuedBytes } = session
  const times = { createdAtUs, lastUsedAtUs, expiresAtUs: lastUsedAtUs + unusedUsMax }
  return { number, userId, clientId, ...times, subscriptions, queued: queue.size, queuedBytes }
}

const nobodysRules: SessionRules = {
  identify: () => undefined,
  ownerOf: () => undefined,
  nameFor: () => undefined,
  apiKeyOf: () => undefined,
}
