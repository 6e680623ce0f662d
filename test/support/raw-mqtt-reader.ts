/** A message as the server delivers it. */
export interface Delivered {
  readonly type: 'publish'
  readonly topic: string
  readonly payload: string
  readonly qos: number
  readonly dup: boolean
  readonly retain: boolean
  /** 0 with QoS 0, where none is sent. */
  readonly packetId: number
}

/** What a server may send. */
export type ServerPacket =
  | {
      readonly type: 'connack'
      readonly sessionPresent: boolean
      readonly returnCode: number
    }
  | Delivered
  | {
      readonly type: 'puback' | 'pubrec' | 'pubrel' | 'pubcomp' | 'unsuback'
      readonly packetId: number
    }
  | { readonly type: 'suback'; readonly packetId: number; readonly codes: readonly number[] }
  | { readonly type: 'pingresp' }

const acknowledgements = {
  4: 'puback',
  5: 'pubrec',
  6: 'pubrel',
  7: 'pubcomp',
  11: 'unsuback',
} as const

/** Reads a server's bytes, as strictly as the server has to read ours. */
export class PacketReader {
  #unread: Buffer = Buffer.alloc(0)

  /**
   * Adds bytes, and hands out the packets that are complete with them.
   *
   * @throws Error for what is no packet that a server may send
   */
  push(chunk: Buffer): ServerPacket[] {
    this.#unread = Buffer.concat([this.#unread, chunk])
    const packets: ServerPacket[] = []
    for (;;) {
      const end = endOfPacket(this.#unread)
      if (end === undefined || end.at > this.#unread.length) return packets
      const body = this.#unread.subarray(end.bodyAt, end.at)
      packets.push(serverPacket(this.#unread[0] ?? 0, body))
      this.#unread = this.#unread.subarray(end.at)
    }
  }
}

function endOfPacket(bytes: Buffer): { readonly bodyAt: number; readonly at: number } | undefined {
  let length = 0
  for (let digits = 0; digits < 4; digits++) {
    const digit = bytes[1 + digits]
    if (digit === undefined) return undefined
    length += (digit & 127) * 128 ** digits
    if (digit < 128) return { bodyAt: digits + 2, at: digits + 2 + length }
  }
  throw new Error('the remaining length has more than four bytes')
}

function serverPacket(first: number, body: Buffer): ServerPacket {
  const [type, flags] = [first >> 4, first & 15]
  if (type === 3) return delivered(flags, body)
  // [MQTT-2.2.2-1]
  const flagsOfType = type === 6 ? 2 : 0
  if (flags !== flagsOfType) throw new Error(`flags ${flags} in a packet of type ${type}`)
  if (type === 2) return connack(body)
  if (type === 9) return { type: 'suback', packetId: idOf(body), codes: [...body.subarray(2)] }
  if (type === 13 && body.length === 0) return { type: 'pingresp' }
  const acknowledgement = acknowledgements[type as keyof typeof acknowledgements]
  if (acknowledgement === undefined || body.length !== 2) {
    throw new Error(`a packet of type ${type} with ${body.length} bytes`)
  }
  return { type: acknowledgement, packetId: idOf(body) }
}

function connack(body: Buffer): ServerPacket {
  const [flags = 0, returnCode = 0] = body
  if (body.length !== 2 || flags > 1) throw new Error(`CONNACK ${body.toString('hex')}`)
  return { type: 'connack', sessionPresent: flags === 1, returnCode }
}

function delivered(flags: number, body: Buffer): ServerPacket {
  const qos = (flags >> 1) & 3
  // [MQTT-3.3.1-4]
  if (qos === 3) throw new Error('PUBLISH with both QoS bits set')
  const topicEnd = 2 + body.readUInt16BE(0)
  const payloadAt = qos === 0 ? topicEnd : topicEnd + 2
  return {
    type: 'publish',
    topic: body.subarray(2, topicEnd).toString(),
    payload: body.subarray(payloadAt).toString(),
    qos,
    dup: (flags & 8) !== 0,
    retain: (flags & 1) !== 0,
    packetId: qos === 0 ? 0 : idOf(body.subarray(topicEnd)),
  }
}

function idOf(bytes: Buffer): number {
  const packetId = bytes.readUInt16BE(0)
  // [MQTT-2.3.1-1]
  if (packetId === 0) throw new Error('packet id 0')
  return packetId
}
