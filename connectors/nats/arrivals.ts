import type { Msg } from '@nats-io/transport-node'
import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import { cutText } from '../../src/core/cut-text.ts'
import { messageBytesMax, shownBytes, tooLarge } from '../message-size.ts'
import type { NatsOptions } from './options.ts'

/** Characters of a subject that are shown. */
const shownSubjectLength = 200

/** Where events name their type: CloudEvents, NATS protocol binding, section 3.1.3; and what others use. */
const typeHeaders = ['ce-type', 'eventType']

/** A message of a stream. */
export interface StreamMessage {
  /** Where it stands there. */
  readonly sequence: number
  readonly msg: Pick<Msg, 'subject' | 'data' | 'headers'>
}

/** Where a message stands. */
export interface Place {
  /** Sequence in the stream. */
  readonly sequence: number
  /** Number among all that its consumer has sent, repetitions included. */
  readonly delivery: number
}

/**
 * What the subject for acknowledgements says (ADR-15): `$JS.ACK.`, since version 2.10 perhaps domain and account,
 * stream, consumer, how often it was sent, both sequences, and more. Undefined for what is no message of a stream.
 */
export function placeOf(reply: string): Place | undefined {
  if (!reply.startsWith('$JS.ACK.')) return undefined
  const tokens = reply.split('.')
  const at = tokens.length === 9 ? 5 : 7
  const [sequence, delivery] = [Number(tokens[at]), Number(tokens[at + 1])]
  const isPlace = [sequence, delivery].every((one) => Number.isSafeInteger(one) && one > 0)
  return isPlace ? { sequence, delivery } : undefined
}

/** Makes messages of what has arrived. */
export function messageMaker(
  options: Pick<NatsOptions, 'host' | 'port' | 'hasEventTypes'>,
  stream: string,
): (message: StreamMessage) => FetchedMessage {
  const { host, port, hasEventTypes } = options
  const where = `of the stream ${stream} at ${host}:${port}`
  return ({ msg, sequence }) => {
    const { subject, data } = msg
    const eventType = hasEventTypes ? eventTypeOf(msg) : undefined
    const source = `message ${sequence} (subject ${cutText(subject, shownSubjectLength)}) ${where}`
    const isTooLarge = data.length > messageBytesMax
    return {
      payload: isTooLarge ? Buffer.from(data.subarray(0, shownBytes)) : data,
      source,
      topic: subject,
      ...(eventType !== undefined && { eventType }),
      ...(isTooLarge && { problem: tooLarge(data.length) }),
    }
  }
}

function eventTypeOf(msg: Pick<Msg, 'headers'>): string | undefined {
  try {
    const { headers } = msg
    const values = typeHeaders.map((name) => headers?.get(name) ?? '')
    return values.find((value) => value !== '')
  } catch {
    // Headers that nobody can read name nothing.
    return undefined
  }
}
