import { once } from 'node:events'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { field, type PacketType, packet, u16 } from './mqtt-bytes.ts'
import { PacketReader, type ServerPacket } from './raw-mqtt-reader.ts'

/**
 * MQTT 3.1.1 packets as bytes, right or wrong: a client library refuses to send what a server has
 * to refuse. Names and numbers are those of the specification.
 */

export type Acknowledgement = 'puback' | 'pubrec' | 'pubrel' | 'pubcomp'

/** Flags of the fixed header that are not zero, table 2.2. */
const fixedFlags: Partial<Record<PacketType, number>> = { pubrel: 2, subscribe: 2, unsubscribe: 2 }

export interface Will {
  readonly topic: string | Buffer
  readonly payload: string
  readonly qos?: number
  readonly retain?: boolean
}

export interface ConnectFields {
  readonly clientId: string | Buffer
  readonly clean?: boolean
  readonly keepAlive?: number
  readonly username?: string | Buffer | undefined
  readonly password?: string | undefined
  readonly will?: Will | undefined
  /** What a client must not choose otherwise, and may here. */
  readonly protocolName?: string
  readonly protocolLevel?: number
  /** Instead of the flags that go with the fields. */
  readonly flags?: number
}

export function connectPacket(fields: ConnectFields): Buffer {
  const { protocolName = 'MQTT', protocolLevel = 4, keepAlive = 0 } = fields
  const { clientId, will, username, password } = fields
  const flags = fields.flags ?? connectFlags(fields)
  return packet(
    'connect',
    0,
    Buffer.concat([field(protocolName), Buffer.from([protocolLevel, flags]), u16(keepAlive)]),
    field(clientId),
    ...(will ? [field(will.topic), field(will.payload)] : []),
    ...(username === undefined ? [] : [field(username)]),
    ...(password === undefined ? [] : [field(password)]),
  )
}

/** Section 3.1.2.3. */
export function connectFlags(fields: Omit<ConnectFields, 'clientId'>): number {
  const { clean = true, will, username, password } = fields
  const ofWill = will ? 0x04 | ((will.qos ?? 0) << 3) | (will.retain ? 0x20 : 0) : 0
  const ofCredentials = (username === undefined ? 0 : 0x80) | (password === undefined ? 0 : 0x40)
  return ofCredentials | ofWill | (clean ? 0x02 : 0)
}

export interface PublishFields {
  readonly topic: string | Buffer
  readonly payload?: string | Buffer
  readonly qos?: number
  /** Sent with QoS 1 and 2. */
  readonly packetId?: number
  readonly retain?: boolean
  readonly dup?: boolean
}

export function publishPacket(fields: PublishFields): Buffer {
  const { topic, payload = '', qos = 0, packetId = 1, retain = false, dup = false } = fields
  const flags = (dup ? 8 : 0) | (qos << 1) | (retain ? 1 : 0)
  const id = qos === 0 ? [] : [u16(packetId)]
  return packet('publish', flags, field(topic), ...id, Buffer.from(payload as string))
}

export function ackPacket(type: Acknowledgement, packetId: number): Buffer {
  return packet(type, fixedFlags[type] ?? 0, u16(packetId))
}

/** A topic filter, and the QoS that is asked for: any byte. */
export type Filter = readonly [filter: string | Buffer, qos: number]

export function subscribePacket(packetId: number, ...filters: readonly Filter[]): Buffer {
  const pairs = filters.flatMap(([filter, qos]) => [field(filter), Buffer.from([qos])])
  return packet('subscribe', 2, u16(packetId), ...pairs)
}

export function unsubscribePacket(packetId: number, ...filters: (string | Buffer)[]): Buffer {
  return packet('unsubscribe', 2, u16(packetId), ...filters.map(field))
}

export const pingreqPacket = packet('pingreq', 0)
export const disconnectPacket = packet('disconnect', 0)

/** How long a packet, or the end of a connection, may take on a busy machine. */
const patienceMs = 60_000

/** One end of a connection: sends the bytes it is given, and keeps the packets that come back. */
export class RawMqtt {
  readonly #duplex: Duplex
  readonly #reader = new PacketReader()
  readonly #packets: ServerPacket[] = []
  readonly #closed: Promise<void>
  #isClosed = false
  #fault: unknown
  #wake = () => {}

  constructor(duplex: Duplex) {
    this.#duplex = duplex
    duplex.on('data', (chunk: Buffer) => this.#take(chunk))
    // A client that is closed by the server may be reset.
    duplex.on('error', () => undefined)
    this.#closed = new Promise((resolve) => {
      duplex.once('close', () => {
        this.#isClosed = true
        this.#wake()
        resolve()
      })
    })
  }

  static async open(port: number): Promise<RawMqtt> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new RawMqtt(socket)
  }

  /** Sends all of it in one write. */
  send(...bytes: readonly Buffer[]): void {
    this.#duplex.write(Buffer.concat(bytes))
  }

  /** The next packet. @throws Error when none comes in time, or the connection ends before */
  async next(): Promise<ServerPacket> {
    const deadline = AbortSignal.timeout(patienceMs)
    for (;;) {
      if (this.#fault !== undefined) throw this.#fault
      const first = this.#packets.shift()
      if (first) return first
      if (this.#isClosed) throw new Error('the server has closed the connection')
      const isLate = await this.#arrival(deadline)
      if (isLate) throw new Error('nothing has come from the server')
    }
  }

  async take(count: number): Promise<ServerPacket[]> {
    const taken: ServerPacket[] = []
    while (taken.length < count) taken.push(await this.next())
    return taken
  }

  /** Everything up to a packet of this type, without it. */
  async before(type: ServerPacket['type']): Promise<ServerPacket[]> {
    const packets: ServerPacket[] = []
    for (;;) {
      const found = await this.next()
      if (found.type === type) return packets
      packets.push(found)
    }
  }

  /**
   * Resolves when the server has closed the connection, with what it sent before that.
   *
   * @throws Error when it leaves it open
   */
  async end(): Promise<ServerPacket[]> {
    const deadline = AbortSignal.timeout(patienceMs)
    while (!this.#isClosed) {
      const isLate = await this.#arrival(deadline)
      if (isLate) throw new Error('the server has left the connection open')
    }
    if (this.#fault !== undefined) throw this.#fault
    return this.#packets.splice(0)
  }

  /** Ends the connection without a DISCONNECT, as a failing network does. */
  async break(): Promise<void> {
    this.#duplex.destroy()
    await this.#closed
  }

  #take(chunk: Buffer): void {
    try {
      this.#packets.push(...this.#reader.push(chunk))
    } catch (error) {
      this.#fault = error
    }
    this.#wake()
  }

  /** Resolves with true when nothing has arrived, or ended, before the deadline. */
  async #arrival(deadline: AbortSignal): Promise<boolean> {
    return await new Promise((resolve) => {
      const late = () => resolve(true)
      deadline.addEventListener('abort', late, { once: true })
      this.#wake = () => {
        deadline.removeEventListener('abort', late)
        resolve(false)
      }
    })
  }
}
