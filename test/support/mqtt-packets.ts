import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { field, packet, u16 } from './mqtt-bytes.ts'
import { adminKey, adminSecret } from './service-process.ts'

export interface MqttPacket {
  readonly type: number
  readonly flags: number
  readonly body: Buffer
}

export interface ConnectFields {
  readonly clientId: string
  readonly isClean?: boolean
  /** Seconds; 0, which is none, when left out. */
  readonly keepAliveS?: number
  readonly username?: string
  readonly password?: string
  readonly will?: { readonly topic: string; readonly payload: string }
}

export function connectPacket(fields: ConnectFields): Buffer {
  const { clientId, isClean = true, username = adminKey, password = adminSecret, will } = fields
  const { keepAliveS = 0 } = fields
  const qosOfWill = 1
  const flags = 0xc0 | (isClean ? 2 : 0) | (will ? 4 | (qosOfWill << 3) : 0)
  const head = Buffer.concat([field('MQTT'), Buffer.from([4, flags]), u16(keepAliveS)])
  const willFields = will ? [field(will.topic), field(will.payload)] : []
  return packet(
    'connect',
    0,
    head,
    field(clientId),
    ...willFields,
    field(username),
    field(password),
  )
}

export interface PublishFields {
  readonly topic: string
  readonly payload: string
  /** Not sent with QoS 0. */
  readonly packetId: number
  readonly qos?: 0 | 1 | 2
  readonly isDup?: boolean
  readonly isRetained?: boolean
}

export function publishPacket(fields: PublishFields): Buffer {
  const { topic, payload, packetId, qos = 1, isDup = false, isRetained = false } = fields
  const flags = (isDup ? 8 : 0) | (qos << 1) | (isRetained ? 1 : 0)
  const id = qos === 0 ? Buffer.alloc(0) : u16(packetId)
  return packet('publish', flags, field(topic), id, Buffer.from(payload))
}

export function pubrelPacket(packetId: number): Buffer {
  return packet('pubrel', 2, u16(packetId))
}

/** PUBACK, PUBREC or PUBCOMP. */
export function answerPacket(type: 'puback' | 'pubrec' | 'pubcomp', packetId: number): Buffer {
  return packet(type, 0, u16(packetId))
}

export function subscribePacket(
  packetId: number,
  filters: string | readonly string[],
  qos = 1,
): Buffer {
  const wanted = [filters].flat().flatMap((filter) => [field(filter), Buffer.from([qos])])
  return packet('subscribe', 2, u16(packetId), ...wanted)
}

/** The packet id that an acknowledgement is about. */
export function packetIdOf({ body }: MqttPacket): number {
  return body.readUInt16BE(0)
}

/** A TCP connection to a broker that sends what it is told and keeps what comes back. */
export class RawMqttConnection {
  readonly #socket: Socket
  readonly #packets: MqttPacket[] = []
  #unread = Buffer.alloc(0)
  #isClosed = false
  /** Resolves when the connection is closed, from whichever side and for whatever reason. */
  readonly closed: Promise<void>

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#isClosed = true
        resolve()
      })
    })
  }

  static async open(port: number): Promise<RawMqttConnection> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return new RawMqttConnection(socket)
  }

  /** Sends all packets in one write. */
  send(...packets: readonly Buffer[]): void {
    this.#socket.write(Buffer.concat(packets))
  }

  /** The next packets that arrive, in their order. @throws Error when the connection ends before */
  async next(count = 1): Promise<MqttPacket[]> {
    while (this.#packets.length < count) {
      if (this.#isClosed) throw new Error(`closed after ${this.#packets.length} packets`)
      const arrived = new Promise((resolve) => this.#socket.once('data', resolve))
      await Promise.race([arrived, this.closed])
    }
    return this.#packets.splice(0, count)
  }

  /** Reads nothing until `resume`. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Ends the connection without a DISCONNECT. */
  destroy(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk])
    for (;;) {
      const found = firstPacket(this.#unread)
      if (!found) return
      this.#packets.push(found.packet)
      this.#unread = this.#unread.subarray(found.length)
    }
  }
}

function firstPacket(
  bytes: Buffer,
): { readonly packet: MqttPacket; readonly length: number } | undefined {
  let bodyLength = 0
  for (let at = 1; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    bodyLength += (byte & 127) * 128 ** (at - 1)
    if (byte > 127) continue
    const length = at + 1 + bodyLength
    if (bytes.length < length) return undefined
    const first = bytes[0] ?? 0
    const body = bytes.subarray(at + 1, length)
    return { packet: { type: first >> 4, flags: first & 15, body }, length }
  }
  return undefined
}
