/** Why we close a connection: few, because each is a label of a metric. */
export const closingReasons = [
  /** Breach of a MUST of MQTT 3.1.1. */
  'protocol',
  /** A packet longer than its type may be. */
  'too_large',
  /** More than we take, though the standard allows it: a topic of too many levels. */
  'limit',
  /** Too many packets for too long. */
  'rate',
  /** Half-sent packets, or messages that nobody reads, take too much memory together. */
  'memory',
  /** A subscriber that does not read what it has subscribed to. */
  'slow',
  /** Nothing within one and a half times the keep-alive. */
  'keep_alive',
  /** No CONNECT in time. */
  'connect_timeout',
  /** Too many messages to topics that are not the client's. */
  'unknown_topics',
] as const

export type ClosingReason = (typeof closingReasons)[number]

/** Reason that costs a client its connection: thrown, or handed to the one who closes it. */
export class ClosingError extends Error {
  override readonly name = 'ClosingError'
  readonly reason: ClosingReason

  constructor(reason: ClosingReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/** Reason for bytes that MQTT 3.1.1 forbids; the message names the statement where there is one. */
export function violation(message: string): ClosingError {
  return new ClosingError('protocol', message)
}
