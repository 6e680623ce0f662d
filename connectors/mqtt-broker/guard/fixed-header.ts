import { ClosingError, violation } from './closing.ts'

/** Types of control packets that clients send, MQTT 3.1.1 table 2.1. */
export const packetType = {
  connect: 1,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  subscribe: 8,
  unsubscribe: 10,
  pingreq: 12,
  disconnect: 14,
} as const

/** Largest CONNECT, with its will, and largest list of topic filters. */
export const controlPacketBytesMax = 64 * 1024

/** Largest PUBLISH: a payload of the size that HTTP takes, too, and its topic. */
export const publishBytesMax = 4 * 1024 * 1024 + 1024

/** Remaining lengths that a packet may have, by its first byte: type and flags. */
export interface FixedHeaders {
  readonly least: Int32Array
  /** -1: no packet begins like this. */
  readonly most: Int32Array
}

/** The first packet is a CONNECT ([MQTT-3.1.0-1]). */
export const firstHeaders: FixedHeaders = headersOf([
  [packetType.connect, 0, 12, controlPacketBytesMax],
])

/**
 * Headers of all later packets, none of which is CONNECT ([MQTT-3.1.0-2]). Flags are those of table
 * 2.2 ([MQTT-2.2.2-2]).
 */
export const laterHeaders: FixedHeaders = headersOf([
  // QoS 0, without DUP ([MQTT-3.3.1-2]); QoS 1 and 2. An empty topic is none ([MQTT-4.7.3-1]).
  ...[0, 1].map((flags) => [packetType.publish, flags, 3, publishBytesMax] as const),
  ...[2, 3, 4, 5, 10, 11, 12, 13].map(
    (flags) => [packetType.publish, flags, 5, publishBytesMax] as const,
  ),
  [packetType.puback, 0, 2, 2],
  [packetType.pubrec, 0, 2, 2],
  [packetType.pubrel, 2, 2, 2],
  [packetType.pubcomp, 0, 2, 2],
  // A packet id and one filter: [MQTT-3.8.3-3], [MQTT-3.10.3-2].
  [packetType.subscribe, 2, 6, controlPacketBytesMax],
  [packetType.unsubscribe, 2, 5, controlPacketBytesMax],
  [packetType.pingreq, 0, 0, 0],
  [packetType.disconnect, 0, 0, 0],
])

type HeaderRule = readonly [type: number, flags: number, least: number, most: number]

function headersOf(rules: readonly HeaderRule[]): FixedHeaders {
  const least = new Int32Array(256)
  const most = new Int32Array(256).fill(-1)
  for (const [type, flags, fewest, largest] of rules) {
    least[(type << 4) | flags] = fewest
    most[(type << 4) | flags] = largest
  }
  return { least, most }
}

/** What is wrong with a packet whose first byte or length the tables do not allow. */
export function headerProblem(headers: FixedHeaders, first: number, length: number): ClosingError {
  const most = headers.most[first] as number
  if (most < 0) return violation(firstByteProblem(headers, first))
  const type = typeName(first)
  const least = headers.least[first] as number
  if (length < least) return violation(`a ${type} of ${length} bytes is too short`)
  if (most <= 2) return violation(`a ${type} has ${most} bytes behind its length, not ${length}`)
  return new ClosingError('too_large', `a ${type} of ${length} bytes is larger than ${most}`)
}

function firstByteProblem(headers: FixedHeaders, first: number): string {
  const type = first >> 4
  if (headers === firstHeaders && type !== packetType.connect) {
    return 'the first packet is not a CONNECT [MQTT-3.1.0-1]'
  }
  if (headers === laterHeaders && type === packetType.connect) {
    return 'a second CONNECT [MQTT-3.1.0-2]'
  }
  if (!Object.values<number>(packetType).includes(type)) {
    return `packets of type ${type} are not sent by clients`
  }
  if (type !== packetType.publish) return `reserved flags of a ${typeName(first)} [MQTT-2.2.2-2]`
  return (first & 6) === 6
    ? 'a PUBLISH with QoS 3 [MQTT-3.3.1-4]'
    : 'a PUBLISH with DUP and QoS 0 [MQTT-3.3.1-2]'
}

function typeName(first: number): string {
  const found = Object.entries(packetType).find(([, type]) => type === first >> 4)
  return (found?.[0] ?? 'packet').toUpperCase()
}
