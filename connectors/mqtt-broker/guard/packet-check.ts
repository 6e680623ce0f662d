import { violation } from './closing.ts'
import { packetType } from './fixed-header.ts'
import { type Packet, variableHeaderAt } from './framing.ts'
import { assertText, assertTopicName, isTakenFilter, type Span } from './text.ts'

/** Filters of one SUBSCRIBE or UNSUBSCRIBE: the broker handles them in one go. */
const filtersMax = 100

/** Bytes of a client id. The standard asks for 23 to be taken ([MQTT-3.1.3-5]). */
const clientIdBytesMax = 256

/** CONNACK return codes of MQTT 3.1.1, table 3.1. */
const connackCode = { unacceptableLevel: 1, identifierRejected: 2 } as const

/** What a CONNECT that is as it should be says. */
export interface CheckedConnect {
  /** CONNACK return code to refuse it with; undefined when the broker has to decide. */
  readonly refusal: number | undefined
  readonly keepAliveS: number
  /** Where the keep-alive stands. */
  readonly keepAliveAt: number
}

/** What a packet of a connected client, other than a reading, asks for. */
export interface CheckedPacket {
  /** Filters of a SUBSCRIBE or UNSUBSCRIBE. */
  readonly filters: number
  /** False for a SUBSCRIBE that is beyond our limits, though not against the standard. */
  readonly isTaken: boolean
}

const plain: CheckedPacket = { filters: 0, isTaken: true }

/**
 * Checks a packet that goes on to the broker, which takes what the standard forbids. Its first byte
 * and its length have been checked already.
 *
 * @throws ClosingError
 */
export function checkPacket(packet: Packet): CheckedPacket {
  const first = packet.bytes[packet.start] as number
  const fields = new Fields(packet)
  switch (first >> 4) {
    case packetType.publish:
      return checkPublish(fields, first)
    case packetType.subscribe:
      return checkSubscribe(fields)
    case packetType.unsubscribe:
      return checkUnsubscribe(fields)
    case packetType.pingreq:
    case packetType.disconnect:
      return plain
    default:
      fields.packetId()
      return plain
  }
}

/** Section 3.3. */
function checkPublish(fields: Fields, first: number): CheckedPacket {
  assertTopicName(fields.bytesOf('topic'))
  if ((first & 6) !== 0) fields.packetId()
  return plain
}

/** Section 3.8. */
function checkSubscribe(fields: Fields): CheckedPacket {
  fields.packetId()
  let filters = 0
  let isTaken = true
  while (!fields.isAtEnd) {
    isTaken = isTakenFilter(fields.bytesOf('topic filter')) && isTaken
    if (fields.byte() > 2) throw violation('a SUBSCRIBE asks for a QoS above 2 [MQTT-3-8.3-4]')
    filters++
  }
  return { filters, isTaken: isTaken && filters <= filtersMax }
}

/** Section 3.10. What is beyond our limits was never subscribed to, so it does no harm. */
function checkUnsubscribe(fields: Fields): CheckedPacket {
  fields.packetId()
  let filters = 0
  while (!fields.isAtEnd) {
    isTakenFilter(fields.bytesOf('topic filter'))
    filters++
  }
  return { filters, isTaken: true }
}

/** Bits of the connect flags, section 3.1.2.3. */
const connectFlag = {
  reserved: 0x01,
  will: 0x04,
  willQos: 0x18,
  willRetain: 0x20,
  password: 0x40,
  username: 0x80,
} as const

/**
 * Checks a CONNECT, section 3.1.
 *
 * @throws ClosingError
 */
export function checkConnect(packet: Packet): CheckedConnect {
  const fields = new Fields(packet)
  const name = fields.text('protocol name')
  const level = fields.byte()
  const versions: Readonly<Record<string, number>> = { MQTT: 4, MQIsdp: 3 }
  if (!Object.hasOwn(versions, name)) throw violation('another protocol name [MQTT-3.1.2-1]')
  // What follows may be of another form in another version.
  if (versions[name] !== level) return refused(connackCode.unacceptableLevel)
  const flags = fields.byte()
  checkConnectFlags(flags)
  const keepAliveAt = fields.at
  const keepAliveS = fields.number()
  const clientId = fields.bytesOf('client id')
  assertText(clientId, 'client id')
  if ((flags & connectFlag.will) !== 0) {
    assertTopicName(fields.bytesOf('topic of the will'), 'topic of the will')
    fields.bytesOf('payload of the will')
  }
  if ((flags & connectFlag.username) !== 0) fields.text('user name')
  if ((flags & connectFlag.password) !== 0) fields.bytesOf('password')
  if (!fields.isAtEnd) throw violation('a CONNECT with more than its flags say')
  if (clientId.end - clientId.start > clientIdBytesMax) {
    return refused(connackCode.identifierRejected)
  }
  return { refusal: undefined, keepAliveS, keepAliveAt }
}

function refused(refusal: number): CheckedConnect {
  return { refusal, keepAliveS: 0, keepAliveAt: 0 }
}

function checkConnectFlags(flags: number): void {
  const has = (flag: keyof typeof connectFlag) => (flags & connectFlag[flag]) !== 0
  if (has('reserved')) throw violation('the reserved flag of a CONNECT [MQTT-3.1.2-3]')
  if ((flags & connectFlag.willQos) === connectFlag.willQos) {
    throw violation('a will with QoS 3 [MQTT-3.1.2-14]')
  }
  if (!has('will') && has('willQos')) throw violation('QoS without a will [MQTT-3.1.2-13]')
  if (!has('will') && has('willRetain')) throw violation('retain without a will [MQTT-3.1.2-15]')
  if (!has('username') && has('password')) {
    throw violation('a password without a user name [MQTT-3.1.2-22]')
  }
}

/** Reads the fields of a packet one after another; none is read beyond its end. */
class Fields {
  /** Fields of their own, because each byte is asked for: the bytes, and where the packet ends. */
  readonly #bytes: Buffer
  readonly #end: number
  at: number

  constructor(packet: Packet) {
    this.#bytes = packet.bytes
    this.#end = packet.end
    this.at = variableHeaderAt(packet)
  }

  get isAtEnd(): boolean {
    return this.at === this.#end
  }

  byte(): number {
    return this.#bytes[this.#skip(1, 'byte')] as number
  }

  number(): number {
    return this.#bytes.readUInt16BE(this.#skip(2, 'number'))
  }

  /** [MQTT-2.3.1-1] */
  packetId(): void {
    if (this.number() === 0) throw violation('a packet id of 0 [MQTT-2.3.1-1]')
  }

  /** Bytes with their length before them. */
  bytesOf(what: string): Span {
    const length = this.#bytes.readUInt16BE(this.#skip(2, what))
    const start = this.#skip(length, what)
    return { bytes: this.#bytes, start, end: this.at }
  }

  /** Section 1.5.3. */
  text(what: string): string {
    const span = this.bytesOf(what)
    assertText(span, what)
    return this.#bytes.toString('utf8', span.start, span.end)
  }

  #skip(length: number, what: string): number {
    const start = this.at
    if (start + length > this.#end) throw violation(`a packet that is cut off in its ${what}`)
    this.at += length
    return start
  }
}
