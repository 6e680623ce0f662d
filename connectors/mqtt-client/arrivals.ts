import { shownBytes, tooLarge } from '../message-size.ts'
import type { Packet } from '../mqtt-broker/guard/framing.ts'
import { BrokerFault, type BrokerPacket } from './broker-packets.ts'

/** Levels of the protocol: MQTT 3.1, 3.1.1 and 5. */
export type MqttVersion = 3 | 4 | 5

/** A PUBLISH that a broker has sent us. */
export interface Arrival {
  /** A view of the bytes that arrived. */
  readonly payload: Buffer
  readonly topic: string
  readonly qos: number
  readonly isDuplicate: boolean
  /** Sent because it was retained when we subscribed, and not because it was published now. */
  readonly isRetained: boolean
  /** 0 for QoS 0. */
  readonly packetId: number
  /** What MQTT 5 has before the payload, behind its length. A view of the bytes, too. */
  readonly properties?: Buffer
  /** Why it cannot be taken: then the payload is only the beginning of what was sent. */
  readonly problem?: string
}

/**
 * Takes a PUBLISH apart: section 3.3 of MQTT 3.1.1 and 5.0.
 *
 * @throws BrokerFault for what no broker may send
 */
export function takeArrival(packet: BrokerPacket, version: MqttVersion): Arrival {
  const { bytes, start, end, cutFrom } = packet
  const flags = bytes[start] as number
  const qos = (flags >> 1) & 3
  if (qos === 3) throw new BrokerFault('a PUBLISH with QoS 3')
  const at = afterLength(bytes, start + 1)
  if (at + 2 > end) throw cutOff()
  const topicEnd = at + 2 + bytes.readUInt16BE(at)
  const idEnd = qos === 0 ? topicEnd : topicEnd + 2
  if (idEnd > end) throw cutOff()
  const packetId = qos === 0 ? 0 : bytes.readUInt16BE(topicEnd)
  if (qos > 0 && packetId === 0) throw new BrokerFault('a PUBLISH with packet id 0')
  const properties = version === 5 ? propertiesAt(bytes, idEnd, end) : undefined
  const payloadStart = properties?.end ?? idEnd
  // Topic aliases stand for a topic in MQTT 5: we take none, and say so in CONNECT.
  if (topicEnd === at + 2) throw new BrokerFault('a PUBLISH without a topic')
  const payload = bytes.subarray(payloadStart, end)
  return {
    payload: cutFrom === undefined ? payload : Buffer.from(payload.subarray(0, shownBytes)),
    ...(cutFrom !== undefined && { problem: tooLarge(cutFrom) }),
    ...(properties !== undefined &&
      properties.start < properties.end && {
        properties: bytes.subarray(properties.start, properties.end),
      }),
    topic: bytes.toString('utf8', at + 2, topicEnd),
    qos,
    isDuplicate: (flags & 8) !== 0,
    isRetained: (flags & 1) !== 0,
    packetId,
  }
}

/** The packet id of a PUBREL, section 3.6. @throws BrokerFault when it is cut off */
export function takeReleased({ bytes, start, end }: Packet): number {
  const at = afterLength(bytes, start + 1)
  if (at + 2 > end) throw cutOff()
  return bytes.readUInt16BE(at)
}

/** Whether a CONNACK, section 3.2, says that the broker has a session of ours. */
export function takeSessionPresent({ bytes, start, end }: Packet): boolean {
  const at = afterLength(bytes, start + 1)
  return at < end && ((bytes[at] as number) & 1) === 1
}

/** The payload begins after the properties, which begin with their length (MQTT 5, section 2.2.2). */
function propertiesAt(bytes: Buffer, at: number, end: number): { start: number; end: number } {
  let length = 0
  for (let digits = 0; digits < 4; digits++) {
    if (at + digits >= end) throw cutOff()
    const digit = bytes[at + digits] as number
    length += (digit & 0x7f) * 128 ** digits
    if (digit >= 0x80) continue
    const start = at + digits + 1
    if (start + length > end) throw cutOff()
    return { start, end: start + length }
  }
  throw new BrokerFault('malformed length of properties')
}

function afterLength(bytes: Buffer, at: number): number {
  let after = at
  while ((bytes[after] as number) >= 0x80) after++
  return after + 1
}

function cutOff(): BrokerFault {
  return new BrokerFault('a packet that is cut off')
}

const firstByte = { puback: 0x40, pubrec: 0x50, pubcomp: 0x70 } as const

/**
 * An acknowledgement, sections 3.4, 3.5 and 3.7: two bytes of remaining length mean success in
 * MQTT 5, too.
 */
export function acknowledgement(kind: keyof typeof firstByte, packetId: number): Buffer {
  return Buffer.of(firstByte[kind], 2, packetId >> 8, packetId & 0xff)
}

/**
 * Acknowledges all that arrived together, in its order ([MQTT-4.6.0-2], [MQTT-4.6.0-3]): one write.
 */
export function acknowledgements(arrivals: readonly Arrival[]): Buffer {
  const bytes = Buffer.allocUnsafe(arrivals.length * 4)
  let end = 0
  for (const { qos, packetId } of arrivals) {
    if (qos === 0) continue
    const first = qos === 1 ? firstByte.puback : firstByte.pubrec
    end = bytes.writeUInt32BE(first * 0x1000000 + 0x20000 + packetId, end)
  }
  return bytes.subarray(0, end)
}
