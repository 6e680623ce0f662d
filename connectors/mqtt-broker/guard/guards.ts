import { Admission, type ConnectionLimits, type RefusalReason } from './admission.ts'
import { type ClosingReason, closingReasons } from './closing.ts'
import { SharedBytes } from './shared-bytes.ts'
import { TopicNames } from './text.ts'
import { BrokerTurns } from './turns.ts'

/** Packets that have begun and are not complete, of all connections together. */
const halfSentBytesMax = 64 * 1024 * 1024

/** What subscribers have not read yet, of all connections together. */
const unreadBytesMax = 64 * 1024 * 1024

export interface GuardStats {
  /** Connections that there are, from their first byte on. */
  readonly open: number
  /** Connections that were not let in, by the limit. */
  readonly refused: Readonly<Record<RefusalReason, number>>
  /** Connections that we closed, by the reason. */
  readonly closed: Readonly<Record<ClosingReason, number>>
  /** Bytes of packets that are not complete yet. */
  readonly halfSentBytes: number
  /** Names of topics that are remembered. */
  readonly topicNames: number
  /** Bytes that subscribers have not read yet, of those who let more wait than the system keeps. */
  readonly unreadBytes: number
  /** Messages of QoS 0 that were not delivered, because their subscriber does not read. */
  readonly undelivered: number
}

/** What all connections share: limits over all of them, and what is counted. */
export class MqttGuards {
  readonly admission: Admission
  readonly turns = new BrokerTurns()
  readonly topicNames = new TopicNames()
  readonly halfSent = new SharedBytes(halfSentBytesMax)
  readonly unread = new SharedBytes(unreadBytesMax)
  readonly #closed = Object.fromEntries(closingReasons.map((reason) => [reason, 0])) as Record<
    ClosingReason,
    number
  >
  #undelivered = 0

  constructor(limits: ConnectionLimits) {
    this.admission = new Admission(limits)
  }

  countClosed(reason: ClosingReason): void {
    this.#closed[reason]++
  }

  countUndelivered(messages: number): void {
    this.#undelivered += messages
  }

  get stats(): GuardStats {
    return {
      open: this.admission.open,
      refused: this.admission.refused,
      closed: { ...this.#closed },
      halfSentBytes: this.halfSent.total,
      topicNames: this.topicNames.size,
      unreadBytes: this.unread.total,
      undelivered: this.#undelivered,
    }
  }
}
