import type { Client } from 'aedes'
import { Delivery } from './delivery.ts'
import { keptBytesMax } from './limits.ts'
import { bytesOf, type Message, type Queued, type Session } from './session.ts'
import type { SessionChange } from './sessions-file.ts'
import type { SessionsLog } from './sessions-log.ts'

/** What is to be put into queues. */
export interface NewMessage {
  readonly topic: string
  readonly payload: Uint8Array
  readonly qos: number
  readonly retain: boolean
}

/** Places in queues that a message has got, and what makes them durable. */
export interface Enqueued {
  readonly places: readonly (readonly [Session, Queued])[]
  readonly changes: readonly SessionChange[]
}

/** The messages that wait in sessions, and their way to the clients. */
export class MessageQueues {
  readonly #log: SessionsLog
  readonly #nameFor: (client: Client, topic: string) => string | undefined
  readonly #deliveries = new Map<Session, Delivery>()
  #lastMessage = 0
  #lastPosition = 0
  queued = 0
  bytes = 0
  dropped = 0

  /** Sessions that somebody is connected with. */
  get connected(): number {
    return this.#deliveries.size
  }

  constructor(log: SessionsLog, nameFor: (client: Client, topic: string) => string | undefined) {
    this.#log = log
    this.#nameFor = nameFor
  }

  /** Puts back what was on disk, in the order of its positions. */
  restore(session: Session, queued: Queued): void {
    this.#lastMessage = Math.max(this.#lastMessage, queued.message?.number ?? 0)
    this.#add(session, queued)
  }

  /**
   * Places for a message in the queues of sessions, each with its QoS. A full queue gets none: what
   * waits in it was acknowledged before.
   */
  enqueue(message: NewMessage, recipients: ReadonlyMap<Session, number>): Enqueued {
    if (recipients.size === 0) return { places: [], changes: [] }
    const kept: Message = {
      number: ++this.#lastMessage,
      topic: message.topic,
      // A copy of its own: the bytes that arrived may be a small part of a large block.
      payload: Uint8Array.from(message.payload),
      holders: 0,
    }
    const places: [Session, Queued][] = []
    const changes: SessionChange[] = [['putMessage', kept.number, kept.topic, kept.payload]]
    for (const [session, granted] of recipients) {
      if (!session.hasRoomForMessage(kept) || this.bytes > keptBytesMax) {
        this.dropped++
        continue
      }
      const queued: Queued = {
        packetId: session.nextPacketId(),
        position: ++this.#lastPosition,
        qos: Math.min(message.qos, granted) === 2 ? 2 : 1,
        retain: message.retain,
        message: kept,
        isDurable: false,
        wasSent: false,
        isInFlight: false,
      }
      this.#add(session, queued)
      this.#deliveries.get(session)?.add(queued)
      places.push([session, queued])
      changes.push(putQueued(session, queued, kept))
    }
    return places.length === 0 ? { places, changes: [] } : { places, changes }
  }

  /** Sends messages that are on disk to those who are connected. */
  settle({ places }: Enqueued): void {
    for (const [, queued] of places) queued.isDurable = true
    for (const [session] of places) this.#deliveries.get(session)?.proceed()
  }

  /** Makes messages that nobody waits for durable in their own time, or drops them. */
  settleLater(enqueued: Enqueued): void {
    if (enqueued.places.length === 0) return
    const isKept = this.#log.hasRoom
      ? this.#log.write(...enqueued.changes)
      : Promise.reject(new Error('too much waits for the disk'))
    isKept.then(
      () => this.settle(enqueued),
      () => {
        this.dropped += enqueued.places.length
        this.withdraw(enqueued)
      },
    )
  }

  /** Takes back what could not be kept. */
  withdraw({ places }: Enqueued): void {
    for (const [session, queued] of places) this.#remove(session, queued)
  }

  /** Begins to send, over a new connection. */
  connect(session: Session, client: Client): void {
    const delivery = new Delivery({ session, client, nameFor: this.#nameFor })
    session.client = client
    this.#deliveries.set(session, delivery)
    delivery.proceed()
  }

  /** False when the client has been replaced by another already. */
  disconnect(session: Session, client: Client): boolean {
    if (session.client !== client) return false
    session.client = undefined
    this.#deliveries.delete(session)
    return true
  }

  /**
   * PUBACK for QoS 1, PUBCOMP for QoS 2: the message is done. To forget it may take its time, for
   * what a crash brings back is sent again, and answered again.
   */
  complete(session: Session, packetId: number, qos: 1 | 2): Message | undefined {
    const queued = session.queue.get(packetId)
    if (!queued?.isInFlight || queued.qos !== qos) return undefined
    if (qos === 2 && queued.message) return undefined
    const { message } = queued
    const unheld = this.#remove(session, queued)
    this.#log.writeLater(['dropQueued', session.number, packetId], ...dropMessage(unheld))
    this.#deliveries.get(session)?.acknowledged()
    return message
  }

  /** PUBREC: the client has the message. Resolves when that is on disk, so that PUBREL may go. */
  async release(session: Session, packetId: number): Promise<void> {
    const queued = session.queue.get(packetId)
    if (!queued?.isInFlight || queued.qos !== 2 || !queued.message) return
    const unheld = this.#released(queued, session)
    await this.#log.write(['release', session.number, packetId], ...dropMessage(unheld))
  }

  /** Takes away what waits of some topics; what was sent over the connection that there is may be answered yet. */
  drop(session: Session, isOver: (topic: string) => boolean): readonly SessionChange[] {
    const changes: SessionChange[] = []
    for (const queued of session.queue.values()) {
      if (!queued.message || queued.isInFlight || !isOver(queued.message.topic)) continue
      const unheld = this.#remove(session, queued)
      changes.push(['dropQueued', session.number, queued.packetId], ...dropMessage(unheld))
    }
    return changes
  }

  /** Takes away all that waits in a session, which ends: what that does to the disk. */
  clear(session: Session): readonly SessionChange[] {
    session.client = undefined
    this.#deliveries.delete(session)
    const changes: SessionChange[] = [['dropQueue', session.number]]
    for (const queued of session.queue.values()) {
      changes.push(...dropMessage(this.#remove(session, queued)))
    }
    return changes
  }

  #add(session: Session, queued: Queued): void {
    const { message } = queued
    if (message?.holders === 0) this.bytes += bytesOf(message)
    session.add(queued)
    this.#lastPosition = Math.max(this.#lastPosition, queued.position)
    this.queued++
  }

  #remove(session: Session, queued: Queued): Message | undefined {
    if (session.queue.get(queued.packetId) !== queued) return undefined
    this.queued--
    session.queue.delete(queued.packetId)
    return this.#released(queued, session)
  }

  #released(queued: Queued, session: Session): Message | undefined {
    const unheld = session.release(queued)
    if (unheld) this.bytes -= bytesOf(unheld)
    return unheld
  }
}

function putQueued(
  session: Session,
  { packetId, position, qos, retain }: Queued,
  message: Message,
): SessionChange {
  return ['putQueued', session.number, packetId, position, message.number, qos, retain ? 1 : 0]
}

function dropMessage(message: Message | undefined): SessionChange[] {
  return message ? [['dropMessage', message.number]] : []
}
