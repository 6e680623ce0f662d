/** Packet types of MQTT 3.1.1, the upper half of a packet's first byte. */
export const CONNACK = 2
export const PUBLISH = 3
export const PUBACK = 4
export const SUBACK = 9
export const DISCONNECT_PACKET = Buffer.from([0xe0, 0])

/** Far longer than any run, so that the server keeps its timer but no ping is ever needed. */
const KEEP_ALIVE_SECONDS = 3600
const PUBLISH_QOS_1 = 0x32
const CLEAN_SESSION = 0x02

type Credentials = { username?: string | undefined; password?: string | undefined }

export function encodeConnect(clientId: string, credentials: Credentials): Buffer {
  const { username, password } = credentials
  if (password !== undefined && username === undefined) {
    throw new Error('MQTT 3.1.1 does not allow a password without a username')
  }
  const flags =
    CLEAN_SESSION | (username === undefined ? 0 : 0x80) | (password === undefined ? 0 : 0x40)
  const fields = [clientId, username, password].filter((field) => field !== undefined)
  const keepAlive = [KEEP_ALIVE_SECONDS >> 8, KEEP_ALIVE_SECONDS & 255]
  const header = Buffer.concat([encodeString('MQTT'), Buffer.from([4, flags, ...keepAlive])])
  return encodePacket(0x10, [header, ...fields.map(encodeString)])
}

/** A SUBSCRIBE with QoS 0. */
export function encodeSubscribe(filter: string): Buffer {
  return encodePacket(0x82, [Buffer.from([0, 1]), encodeString(filter), Buffer.from([0])])
}

/** A QoS 1 PUBLISH to overwrite in place: where its packet id and its payload begin. */
export type PublishTemplate = { bytes: Buffer; idAt: number; payloadAt: number }

export function encodePublish(topic: string, payload: string): PublishTemplate {
  const body = Buffer.from(payload)
  const bytes = encodePacket(PUBLISH_QOS_1, [encodeString(topic), Buffer.alloc(2), body])
  const payloadAt = bytes.length - body.length
  return { bytes, idAt: payloadAt - 2, payloadAt }
}

const REFUSALS = [
  'accepted',
  'unacceptable protocol version',
  'client id rejected',
  'server unavailable',
  'bad username or password',
  'not authorized',
]

/** The meaning of a CONNACK return code in words. */
export function describeReturnCode(code: number): string {
  return `${REFUSALS[code] ?? 'unknown reason'} (CONNACK return code ${code})`
}

type PacketListener = (type: number, firstByte: number, secondByte: number) => void

/**
 * Splits a byte stream into MQTT packets, wherever the chunks are cut, and reports each packet's
 * type with the first two bytes of its body: all that a CONNACK or a PUBACK has.
 */
export class PacketReader {
  readonly #onPacket: PacketListener
  #state: 'type' | 'length' | 'body' = 'type'
  #type = 0
  #lengthShift = 0
  #bodyLeft = 0
  #bodyBytes: [number, number] = [0, 0]
  #bodySeen = 0

  constructor(onPacket: PacketListener) {
    this.#onPacket = onPacket
  }

  push(bytes: Buffer): void {
    let at = 0
    while (at < bytes.length) {
      const isWholePuback =
        this.#state === 'type' &&
        at + 4 <= bytes.length &&
        bytes[at] === 0x40 &&
        bytes[at + 1] === 2
      if (isWholePuback) {
        this.#onPacket(PUBACK, bytes[at + 2] ?? 0, bytes[at + 3] ?? 0)
        at += 4
      } else {
        this.#pushByte(bytes[at] ?? 0)
        at += 1
      }
    }
  }

  #pushByte(byte: number): void {
    if (this.#state === 'type') {
      this.#type = byte >> 4
      this.#state = 'length'
      this.#lengthShift = 0
      this.#bodyLeft = 0
      this.#bodySeen = 0
      this.#bodyBytes = [0, 0]
    } else if (this.#state === 'length') {
      if (this.#lengthShift > 21) throw new Error('malformed MQTT packet: length of over 4 bytes')
      this.#bodyLeft |= (byte & 127) << this.#lengthShift
      this.#lengthShift += 7
      if (byte < 128) this.#state = 'body'
    } else {
      if (this.#bodySeen < 2) this.#bodyBytes[this.#bodySeen] = byte
      this.#bodySeen += 1
      this.#bodyLeft -= 1
    }
    if (this.#state !== 'body' || this.#bodyLeft > 0) return
    this.#state = 'type'
    this.#onPacket(this.#type, this.#bodyBytes[0], this.#bodyBytes[1])
  }
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function encodePacket(firstByte: number, parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const header = [firstByte]
  let rest = body.length
  do {
    header.push((rest % 128) | (rest >= 128 ? 128 : 0))
    rest = Math.floor(rest / 128)
  } while (rest > 0)
  return Buffer.concat([Buffer.from(header), body])
}
