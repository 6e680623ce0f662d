import type { PublishPacket } from 'aedes'
import type { TakenPublish } from './guard/framing.ts'
/** A PUBLISH of QoS 0, section 3.3: the same bytes for everybody who gets it. */
export function unacknowledgedPublish(topic: string, payload: Uint8Array): Buffer {
  const topicBytes = Buffer.byteLength(topic)
  const length = lengthDigits(2 + topicBytes + payload.byteLength)
  const packet = Buffer.allocUnsafe(1 + length.length + 2 + topicBytes + payload.byteLength)
  packet[0] = 0x30
  packet.set(length, 1)
  const topicAt = packet.writeUInt16BE(topicBytes, 1 + length.length)
  packet.write(topic, topicAt)
  packet.set(payload, topicAt + topicBytes)
  return packet
}

/** SUBACK, section 3.9: one return code for each filter of the SUBSCRIBE, in its order. */
export function suback(packetId: number, codes: readonly number[]): Buffer {
  const length = lengthDigits(2 + codes.length)
  return Buffer.from([0x90, ...length, packetId >> 8, packetId & 0xff, ...codes])
}

/** Remaining length, section 2.2.3: seven bits a byte, the lowest first. */
function lengthDigits(length: number): readonly number[] {
  const digits: number[] = []
  let rest = length
  do {
    const digit = rest & 0x7f
    rest >>= 7
    digits.push(rest > 0 ? digit | 0x80 : digit)
  } while (rest > 0)
  return digits
}

/** A PUBLISH that the broker has taken apart, as one that was taken before it. */
export function takenOf({
  topic,
  payload,
  qos,
  dup,
  retain,
  messageId = 0,
}: PublishPacket): TakenPublish {
  const bytes = payload as Buffer
  const name = { text: topic }
  const flags = { qos, isDuplicate: dup, isRetained: retain }
  return { topic: name, payload: bytes, ...flags, packetId: messageId }
}
