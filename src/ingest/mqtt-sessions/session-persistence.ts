import { Readable } from 'node:stream'
import type { Aedes, Client, Subscription } from 'aedes'
import { streamOf } from '../../core/heard-streams.ts'
import type { LeftWill } from './mqtt-sessions.ts'
import { PacketIds } from './packet-ids.ts'
import type { ReceivedIds } from './received-ids.ts'
import type { Retention } from './retention.ts'
import type { SessionLifetimes } from './session-lifetimes.ts'
import type { SessionParts } from './session-parts.ts'
import { nobody, sessionOf } from './session-registry.ts'

type SomeClient = Pick<Client, 'id'> & { readonly clean?: boolean }

interface Numbered {
  readonly cmd?: string
  readonly messageId?: number
}

interface Publish {
  readonly topic: string
  payload: Buffer
  readonly qos: number
  readonly retain: boolean
}

export interface SessionServices {
  readonly retention: Retention
  readonly lifetimes: SessionLifetimes
  readonly receivedIds: ReceivedIds
}

/**
 * What the broker asks for sessions, retained messages and wills: the contract of the package
 * aedes-persistence 11. What it awaits and then acknowledges is on disk.
 */
export class SessionPersistence {
  readonly #parts: SessionParts
  readonly #services: SessionServices
  /** Packet ids of QoS 2 of clients whose sessions end with their connections. */
  readonly #passing = new WeakMap<object, Set<number>>()
  /** Packet ids of what such clients were sent, and have not acknowledged. */
  readonly #sent = new WeakMap<object, PacketIds>()
  /**
   * Clients that wills belong to, by client id: two have the same for a moment, when one takes the
   * other's place.
   */
  readonly #testators = new Map<string, Client>()

  constructor(parts: SessionParts, services: SessionServices) {
    this.#parts = parts
    this.#services = services
  }

  /** Called by the broker when it begins to listen. */
  async setup(broker: Aedes): Promise<void> {
    broker.on('clientDisconnect', (client) => {
      const session = sessionOf(this.#parts, client)
      if (!session || !this.#parts.queues.disconnect(session, client)) return
      this.#services.lifetimes.use(session)
    })
  }

  // Sessions and their subscriptions

  /** Called at a CONNECT without a clean session, and at no other time: opens the session. */
  async subscriptionsByClient({ id }: SomeClient): Promise<Subscription[]> {
    const session = sessionOf(this.#parts, { id })
    if (!session) {
      await this.#services.lifetimes.open(id)
      return []
    }
    this.#services.lifetimes.use(session)
    this.#parts.registry.forgetGranted(session)
    const subscriptions = [...session.subscriptions].map(([topic, qos]) => subscription(topic, qos))
    // [MQTT-3.2.2-2]: the broker says "session present" when there is a filter to restore. A session
    // without any shows one that nobody is granted.
    return subscriptions.length > 0 ? subscriptions : [subscription(presenceFilter, 0)]
  }

  /** The broker hands over all filters of a packet, once for each of them that is granted. */
  async addSubscriptions(client: SomeClient, wanted: readonly Subscription[]): Promise<void> {
    const session = sessionOf(this.#parts, client)
    if (session) await this.#services.lifetimes.subscribe(session, client, wanted)
  }

  async removeSubscriptions(client: SomeClient, filters: readonly string[]): Promise<void> {
    const session = sessionOf(this.#parts, client)
    if (session) await this.#services.lifetimes.unsubscribe(session, filters)
  }

  /** Called at a CONNECT with a clean session: what the client had before ends ([MQTT-3.1.2-6]). */
  async cleanSubscriptions({ id }: SomeClient): Promise<void> {
    const session = sessionOf(this.#parts, { id })
    if (session) await this.#parts.log.write(...this.#services.lifetimes.drop(session))
  }

  async subscriptionsByTopic(topic: string): Promise<object[]> {
    const { rules, registry } = this.#parts
    const ownerId = rules.ownerOf(topic)
    if (ownerId === undefined) return []
    return [...registry.matching(ownerId, topic)].map(([{ clientId }, qos]) => ({
      clientId,
      topic,
      qos,
    }))
  }

  // Messages on their way to a session

  /**
   * What the broker passes on with QoS 1 or 2. What `keep` has kept is in the queues; what the
   * service publishes itself is put there now, and nobody waits for the disk.
   */
  async outgoingEnqueueCombi(_: unknown, packet: Publish): Promise<void> {
    const { rules, registry, queues, recipients } = this.#parts
    const payload = Buffer.from(
      packet.payload.buffer,
      packet.payload.byteOffset,
      packet.payload.byteLength,
    )
    let wanting = recipients.get(packet.payload)
    if (!wanting) {
      const ownerId = rules.ownerOf(packet.topic)
      wanting = ownerId === undefined ? nobody : registry.matching(ownerId, packet.topic)
      queues.settleLater(queues.enqueue({ ...packet, retain: false }, wanting))
    }
    // The payload is an object of this one message from here on, whoever else publishes the bytes.
    packet.payload = payload
    recipients.set(payload, wanting)
  }

  /** Queues what the service has to say to one client, whose session `clientId` names. */
  async outgoingEnqueue({ clientId }: { readonly clientId: string }, packet: Publish) {
    const { queues, recipients } = this.#parts
    const session = sessionOf(this.#parts, { id: clientId })
    if (!session) return
    const wanting = new Map([[session, packet.qos]])
    queues.settleLater(queues.enqueue({ ...packet, retain: false }, wanting))
    recipients.set(packet.payload, wanting)
  }

  /** A client has connected and has its CONNACK. The broker itself is given nothing to send. */
  outgoingStream(client: Client): Readable {
    const session = sessionOf(this.#parts, client)
    if (session) this.#parts.queues.connect(session, client)
    return streamOf([])
  }

  /** PUBREC has come, and PUBREL goes when this resolves. A PUBLISH never asks: it has its id. */
  async outgoingUpdate(client: SomeClient, { cmd, messageId }: Numbered): Promise<void> {
    const session = sessionOf(this.#parts, client)
    if (session && cmd === 'pubrel') await this.#parts.queues.release(session, messageId ?? 0)
  }

  /** PUBACK or PUBCOMP has come. */
  async outgoingClearMessageId(client: SomeClient, { cmd, messageId }: Numbered): Promise<void> {
    const session = sessionOf(this.#parts, client)
    if (!session) {
      this.#sent.get(client)?.release(messageId ?? 0)
      return
    }
    if (cmd === 'puback') this.#parts.queues.complete(session, messageId ?? 0, 1)
    if (cmd === 'pubcomp') this.#parts.queues.complete(session, messageId ?? 0, 2)
  }

  /**
   * A packet id for a client whose session ends with its connection: the broker by itself would not ask
   * whether it is in use. Undefined when all are.
   */
  takePacketId(client: object): number | undefined {
    let ids = this.#sent.get(client)
    if (!ids) {
      ids = new PacketIds()
      this.#sent.set(client, ids)
    }
    return ids.take()
  }

  // Packet ids of QoS 2 that clients send

  /** Whether what came with a packet id was handed on, and is not released yet. */
  hasTaken(client: SomeClient, packetId: number): boolean {
    const session = sessionOf(this.#parts, client)
    return session
      ? this.#services.receivedIds.isTaken(session, packetId)
      : (this.#passing.get(client)?.has(packetId) ?? false)
  }

  /** @throws Error when what came with this packet id was not handed on yet: it is new */
  async incomingGetPacket(client: SomeClient, packet: Numbered): Promise<Numbered> {
    if (!this.hasTaken(client, packet.messageId ?? 0)) throw new Error('no such packet')
    return packet
  }

  /** What came with this packet id is kept, and is handed on next. PUBREC goes after that. */
  async incomingStorePacket(client: SomeClient, { messageId = 0 }: Numbered): Promise<void> {
    const session = sessionOf(this.#parts, client)
    if (session) await this.#services.receivedIds.take(session, messageId)
    else this.#passingOf(client).add(messageId)
  }

  /** PUBREL has come, and PUBCOMP goes when this resolves. */
  async incomingDelPacket(client: SomeClient, { messageId = 0 }: Numbered): Promise<void> {
    const session = sessionOf(this.#parts, client)
    if (session) await this.#services.receivedIds.release(session, messageId)
    else {
      this.#passing.get(client)?.delete(messageId)
      this.#services.receivedIds.endPassing(client, messageId)
    }
  }

  async cleanIncoming(client: SomeClient): Promise<void> {
    this.#passing.delete(client)
  }

  // Retained messages

  async storeRetained(packet: Publish): Promise<void> {
    const { rules, recipients, log } = this.#parts
    const ownerId = rules.ownerOf(packet.topic)
    if (ownerId === undefined || recipients.has(packet.payload)) return
    const { changes, undo } = this.#services.retention.put(ownerId, packet)
    log.write(...changes).catch(undo)
  }

  createRetainedStreamCombi(filters: readonly string[]): Readable {
    return streamOf(this.#retainedBy(filters))
  }

  createRetainedStream(filter: string): Readable {
    return this.createRetainedStreamCombi([filter])
  }

  // Wills

  async putWill(client: Client, will: Publish): Promise<void> {
    const { rules, wills, log } = this.#parts
    const identity = rules.identify(client.id)
    const apiKeyId = rules.apiKeyOf(client)
    if (!identity || apiKeyId === undefined) return
    const { topic, retain } = will
    const [payload, qos] = [Buffer.from(will.payload), will.qos as LeftWill['qos']]
    const kept = { ...identity, brokerClientId: client.id, apiKeyId, topic, payload, qos, retain }
    this.#testators.set(client.id, client)
    await log.write(wills.put(kept))
  }

  async getWill({ id }: SomeClient): Promise<LeftWill | undefined> {
    return this.#parts.wills.get(id)
  }

  /**
   * A will that is published and not forgotten yet may be published again after a crash. A client
   * that is closed because another has taken its place must not take away the other's will.
   */
  async delWill({ id }: SomeClient): Promise<LeftWill | undefined> {
    if (this.#testators.get(id)?.closed === false) return undefined
    this.#testators.delete(id)
    const will = this.#parts.wills.get(id)
    this.#parts.log.writeLater(...this.#parts.wills.delete(id))
    return will
  }

  /** Wills that a crash has left are no matter of the broker, which would ask nobody for leave. */
  streamWill(): Readable {
    return streamOf([])
  }

  *#retainedBy(filters: readonly string[]): Generator<object> {
    const { rules, retained } = this.#parts
    for (const filter of filters) {
      const ownerId = rules.ownerOf(filter)
      if (ownerId === undefined) continue
      for (const { topic, payload, qos } of retained.matching(ownerId, filter)) {
        const { buffer, byteOffset, byteLength } = payload
        const view = Buffer.from(buffer, byteOffset, byteLength)
        yield { cmd: 'publish', topic, payload: view, qos, retain: true }
      }
    }
  }

  #passingOf(client: object): Set<number> {
    let passing = this.#passing.get(client)
    if (!passing) {
      passing = new Set()
      this.#passing.set(client, passing)
    }
    return passing
  }
}

const presenceFilter = '$session'

function subscription(topic: string, qos: number): Subscription {
  return { topic, qos: qos as Subscription['qos'] }
}
