import type { DomainError } from '../core/errors.ts'
import type { MessageContext } from './mapping.ts'
import type { CompiledStream, DecodedMessage, Verdict } from './reading.ts'

/** Bytes as they arrived for a known stream: nothing about them is known to be true yet. */
export interface RawMessage extends MessageContext {
  readonly stream: CompiledStream
  readonly payload: Uint8Array
  /** Where it came from, for a person who looks into the quarantine: protocol, client, address. */
  readonly source: string
  /** Whether its topic is shown behind `source`, which does not name it. */
  readonly showsTopic?: boolean
  /** Its topic is the only one that messages of its source can have: it tells no senders apart. */
  readonly isOnlyTopic?: boolean
  /** Time of receipt of a message that was seen before (a retransmission); else it is taken now. */
  readonly receivedAtUs?: number
  /**
   * The QoS of MQTT that it is passed on with to those who follow the stream; 1 where nothing is
   * said.
   */
  readonly qos?: number
  /** Whether those who come later to a topic of MQTT are to get it, too. */
  readonly isRetained?: boolean
}

/** Something that has to be said to where a message came from. */
export interface PublishRequest {
  readonly topic: string
  readonly payload: Uint8Array
}

/**
 * Called once, in the order in which messages were handed in: without an error when the message is
 * durable, so that its source may be told; with one when it is not. A retryable error means "offer
 * it again later".
 */
export type Settled = (error?: DomainError) => void

/** What became of one message. Only a call of `Settled` says that it is durable. */
export interface MessageOutcome {
  readonly receivedAtUs: number
  /** One verdict for each reading of the message, in its order. */
  readonly verdicts: readonly Verdict[]
  /** The readings have times that count from that of the receipt. */
  readonly countsFromReceipt?: boolean
  /** To be published where the message came from: nobody waits for it, and it may get lost. */
  readonly request?: PublishRequest
}

/** The door of the pipeline: what a connector is given, and all it may do with a message. */
export interface Acceptor {
  /**
   * Takes a message of any content: what cannot be decoded is quarantined as a whole, and so is what a
   * fault of ours keeps from being handled. Offered again it would meet the same fault, for ever.
   */
  accept(message: RawMessage, settled: Settled): MessageOutcome
  /** Quarantines a message as a whole, as one that cannot be taken apart, for the reason given. */
  refuse(message: RawMessage, problem: string, settled: Settled): MessageOutcome
  /** Takes a message that was decoded before, by a source that refuses undecodable ones itself. */
  acceptDecoded(message: RawMessage, decoded: DecodedMessage, settled: Settled): MessageOutcome
  /** What the work hands in becomes durable together, or not at all. */
  together(work: () => void): void
  /**
   * Makes all steps durable together, with a turn for others between them; nothing is settled when
   * one throws.
   */
  togetherInTurns(steps: Iterable<() => void>): Promise<void>
  /**
   * Keeps how far the source of a stream has been read.
   *
   * @param position JSON
   */
  keepPosition(stream: CompiledStream, position: string, settled: Settled): void
  /** A time of receipt that a message is accepted with later. */
  reserve(payload: Uint8Array): number
  /** The verdicts that the readings of a message would get now. Nothing is kept of it. */
  judge(stream: CompiledStream, decoded: DecodedMessage): readonly Verdict[]
  /**
   * Settles in order with what was accepted before, for a message of which nothing is kept, or that
   * could not be taken.
   */
  settleInOrder(settled: Settled, failure?: DomainError): void
}
