import { conflict } from '../../core/conflict.ts'
import { receivedPerSessionMax } from './limits.ts'
import type { FirstReceipt } from './mqtt-sessions.ts'
import type { Received, Session } from './session.ts'
import type { SessionParts } from './session-parts.ts'
import type { SessionChange } from './sessions-file.ts'

/** A packet id that comes for the first time: to be kept together with what it stands for. */
export interface NewExchange {
  readonly change: SessionChange
  /** When it could not be kept. */
  readonly undo: () => void
}

/**
 * Packet ids of QoS 2 that clients have sent and not released (section 4.3.3): what comes with one
 * of them again is no new message, not even after a crash.
 */
export class ReceivedIds {
  readonly #parts: Pick<SessionParts, 'log' | 'clock'>
  /** Packet ids with which something was kept, of clients whose sessions end with their connections. */
  readonly #passing = new WeakMap<object, Set<number>>()

  constructor(parts: Pick<SessionParts, 'log' | 'clock'>) {
    this.#parts = parts
  }

  /** Whether what came with it was handed on. */
  isTaken(session: Session, packetId: number): boolean {
    return session.received.get(packetId)?.isTaken ?? false
  }

  /**
   * Begins an exchange with a message that is kept in the same transaction: after a crash both are
   * there, or none. Undefined when the packet id is known already.
   */
  begin(session: Session, packetId: number): NewExchange | undefined {
    if (session.received.has(packetId)) return undefined
    assertRoom(session)
    const receivedAtUs = this.#parts.clock.nowUs()
    session.received.set(packetId, { receivedAtUs, isTaken: false, isTakenOnDisk: true })
    return {
      change: ['putReceived', session.number, packetId, receivedAtUs, 1],
      undo: () => void session.received.delete(packetId),
    }
  }

  /** Begins with a packet id of a client without a session; false when the packet id is known already. */
  beginPassing(client: object, packetId: number): boolean {
    const ids = this.#passing.get(client) ?? new Set()
    if (ids.has(packetId)) return false
    this.#passing.set(client, ids.add(packetId))
    return true
  }

  /** PUBREL, or it could not be kept. */
  endPassing(client: object, packetId: number): void {
    this.#passing.get(client)?.delete(packetId)
  }

  /**
   * Time of the first receipt of a reading, which goes to the journal next: after a crash in
   * between it is taken again, with the same time of receipt, and so it is the same reading.
   */
  async firstReceipt(
    session: Session,
    packetId: number,
    reserve: () => number,
  ): Promise<FirstReceipt> {
    const { log } = this.#parts
    const known = session.received.get(packetId)
    if (known) {
      await log.write()
      return known
    }
    assertRoom(session)
    const received: Received = { receivedAtUs: reserve(), isTaken: false, isTakenOnDisk: false }
    session.received.set(packetId, received)
    try {
      await log.write(['putReceived', session.number, packetId, received.receivedAtUs, 0])
    } catch (error) {
      session.received.delete(packetId)
      throw error
    }
    return received
  }

  /** What came with it is where it belongs, and PUBREC goes when this resolves. */
  async take(session: Session, packetId: number): Promise<void> {
    const { log, clock } = this.#parts
    const known = session.received.get(packetId)
    if (!known) assertRoom(session)
    const received = known ?? { receivedAtUs: clock.nowUs(), isTaken: false, isTakenOnDisk: false }
    const { receivedAtUs, isTakenOnDisk } = received
    received.isTaken = true
    received.isTakenOnDisk = true
    session.received.set(packetId, received)
    if (isTakenOnDisk) return
    const change: SessionChange = ['putReceived', session.number, packetId, receivedAtUs, 1]
    if (known) log.writeLater(change)
    else await log.write(change)
  }

  /** PUBREL. Its PUBCOMP lets the client use the packet id again, so the disk comes first. */
  async release(session: Session, packetId: number): Promise<void> {
    if (!session.received.has(packetId)) return
    await this.#parts.log.write(['dropReceived', session.number, packetId])
    session.received.delete(packetId)
  }
}

/** @throws DomainError `conflict`: the connection ends, since MQTT 3.1.1 has no answer for it */
function assertRoom(session: Session): void {
  if (session.received.size < receivedPerSessionMax) return
  throw conflict(
    'too many packet ids of QoS 2 were not released',
    'Send PUBREL for each message of QoS 2, or publish with QoS 1.',
  )
}
