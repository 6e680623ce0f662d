import type { Msg } from '@nats-io/transport-node'
import { contextTexts } from '../../src/contracts/context-texts.ts'
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
  /** When the stream got it; undefined where that is not known. */
  readonly storedAtUs?: number | undefined
}

/** Where a message stands. */
export interface Place {
  /** Sequence in the stream. */
  readonly sequence: number
  /** Number among all that its consumer has sent, repetitions included. */
  readonly delivery: number
  /** When the stream got it. */
  readonly storedAtUs: number | undefined
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
  const time = tokens[at + 2] ?? ''
  const isPlace = [sequence, delivery].every((one) => Number.isSafeInteger(one) && one > 0)
  // Nanoseconds since the epoch, of which the last digits do not fit into a double.
  const storedAtUs = /^\d{4,19}$/.test(time) ? Number(time.slice(0, -3)) : undefined
  return isPlace ? { sequence, delivery, storedAtUs } : undefined
}

/** Makes messages of what has arrived. */
export function messageMaker(
  options: Pick<NatsOptions, 'host' | 'port' | 'hasEventTypes' | 'isMapped'>,
  stream: string,
): (message: StreamMessage) => FetchedMessage {
  const { host, port, hasEventTypes, isMapped } = options
  const where = `of the stream ${stream} at ${host}:${port}`
  return ({ msg, sequence, storedAtUs }) => {
    const { subject, data } = msg
    const eventType = hasEventTypes ? eventTypeOf(msg) : undefined
    const source = `message ${sequence} (subject ${cutText(subject, shownSubjectLength)}) ${where}`
    const isTooLarge = data.length > messageBytesMax
    return {
      payload: isTooLarge ? Buffer.from(data.subarray(0, shownBytes)) : data,
      source,
      topic: subject,
      separator: '.',
      ...(eventType !== undefined && { eventType }),
      ...(isMapped && { headers: headersOf(msg) }),
      ...(isMapped && storedAtUs !== undefined && { sentAtUs: storedAtUs }),
      ...(isTooLarge && { problem: tooLarge(data.length) }),
    }
  }
}

function headersOf({ headers }: Pick<Msg, 'headers'>): Readonly<Record<string, string>> {
  try {
    const names = headers?.keys() ?? []
    return contextTexts(names.map((name) => [name.toLowerCase(), headers?.values(name)]))
  } catch {
    // Headers that nobody can read say nothing.
    return {}
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
